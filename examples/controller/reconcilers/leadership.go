package reconcilers

import (
	"context"
	"sync/atomic"
)

// leadership knows whether this process leads. Components that also watch on standbys publish only if this process leads.
type leadership struct{ atomic.Bool }

// NeedLeaderElection returns true: it is started when the process has been elected.
func (l *leadership) NeedLeaderElection() bool { return true }

// Start runs until ctx ends.
func (l *leadership) Start(ctx context.Context) error {
	l.Store(true)
	defer l.Store(false)
	<-ctx.Done()
	return nil
}
