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

// rest waits for the given time (0 means forever), or until it is woken; if the channel is nil, it cannot be woken. It returns true when
// the time has passed. It returns false when it was woken or ctx has ended; the caller must check which of the two happened.
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
