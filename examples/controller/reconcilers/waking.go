package reconcilers

import (
	"context"
	"time"
)

// wake tells whoever rests on the channel, which has room for one word, that there is something to do.
func wake(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// rest waits until there may be something to do: for the time given, 0 for ever, or until it is woken; nil is nobody to wake it. It is
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
