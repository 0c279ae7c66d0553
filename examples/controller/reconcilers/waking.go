package reconcilers

import (
	"context"
	"time"
)

// wake wakes the goroutine that waits on the channel, which has a buffer of one element.
func wake(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// rest waits for the given time (0 means forever), or until it is woken; with nil, nobody can wake it. It returns true when the time has
// passed, and false when it was woken or ctx has ended; callers check which.
func rest(ctx context.Context, woken <-chan struct{}, again time.Duration) bool {
	var due <-chan time.Time
	if again > 0 {
		timer := time.NewTimer(again)
		defer timer.Stop()
		due = timer.C
	}
	select {
	case <-ctx.Done():
	case <-woken:
	case <-due:
		return true
	}
	return false
}
