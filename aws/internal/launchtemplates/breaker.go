package launchtemplates

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/drawknife/drawknife/aws/sdk"
	"github.com/drawknife/drawknife/cloudprovider"
)

const (
	// breakAfter is the number of consecutive failed calls after which calls are paused.
	breakAfter = 3
	// minBreak and maxBreak limit the pause, which doubles with each further failure.
	minBreak, maxBreak = time.Second, 30 * time.Second
)

// breaker refuses calls while EC2 can't serve them. The zero value allows all calls.
type breaker struct {
	mu       sync.Mutex
	failures int
	closedTo time.Time
	cause    error
}

// allow returns an error of kind Throttled while calls are paused.
func (b *breaker) allow(now time.Time) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !now.Before(b.closedTo) {
		return nil
	}
	return cloudprovider.NewThrottledError("CreateLaunchTemplate", b.closedTo.Sub(now),
		fmt.Errorf("paused after %d failures in a row, the last: %w", b.failures, b.cause))
}

// report records the result of a call. Only server errors of EC2 and throttling count as failures. If EC2 refuses one template, this has no
// effect on other templates.
func (b *breaker) report(now time.Time, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !sdk.IsThrottled(err) && !sdk.IsServerFault(err) {
		b.failures, b.cause = 0, nil
		return
	}
	b.failures++
	b.cause = err
	if b.failures < breakAfter {
		return
	}
	wait := min(minBreak<<min(b.failures-breakAfter, 10), maxBreak)
	// Half of the wait is random, so that several processes don't call again at the same time.
	b.closedTo = now.Add(wait/2 + rand.N(wait/2+1))
}
