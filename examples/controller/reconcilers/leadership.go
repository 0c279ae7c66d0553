package reconcilers

import (
	"context"
	"sync/atomic"
)

// leadership records whether this process is the leader. Components that also watch on standbys publish only if this process is the leader.
type leadership struct{ atomic.Bool }

// NeedLeaderElection returns true: Start is called when this process has been elected.
func (l *leadership) NeedLeaderElection() bool { return true }

// Start runs until ctx ends.
func (l *leadership) Start(ctx context.Context) error {
	l.Store(true)
	defer l.Store(false)
	<-ctx.Done()
	return nil
}
