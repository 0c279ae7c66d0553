package reconcilers

import (
	"context"
	"time"
)

// wake wakes the goroutine that waits on the channel, which has a buffer of one.
func wake(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// rest waits until there may be something to do: for the time given, 0 forever, or until it is woken; nil is nobody to wake it. It is
// true when the time is over, and false when it was woken or ctx has ended, which callers look at themselves.
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
