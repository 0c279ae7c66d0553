package batch

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/drawknife/drawknife/cloudprovider"
)

// Defaults of Options.
const (
	// DefaultAttempts is how many times a request is tried, including the first time.
	DefaultAttempts = 4
	// DefaultBackoff is the mean pause before the second attempt; the pause doubles with each further attempt.
	DefaultBackoff = 500 * time.Millisecond
	// DefaultMaxBackoff is the longest pause before an attempt.
	DefaultMaxBackoff = 20 * time.Second
	// DefaultMaxBatches is how many merged calls are in progress at once.
	DefaultMaxBatches = 100
)

// Options say how calls are merged. Do is required; all other options have defaults.
type Options[Req, Res any] struct {
	// Name of the batcher, for Observe.
	Name string
	// Idle closes a window if no call arrived for this time. With 0, hardly any calls are merged: only those that arrive while a window is
	// being closed.
	Idle time.Duration
	// Max closes a window this long after its first call. If Max is less than Idle, Idle is used.
	Max time.Duration
	// MaxItems closes a window with this number of calls; zero means no limit.
	MaxItems int
	// Bucket separates calls that can't be merged: only calls of the same bucket share a window. Nil means that all calls share a window.
	Bucket func(Req) string
	// Do makes the merged call and returns the answer to each request at the request's index. The context is cancelled when no caller waits
	// any more.
	Do func(context.Context, []Req) []Answer[Res]
	// Retry says which errors are transient, so that the request is tried again. Nil means none.
	Retry func(error) bool
	// Attempts is how many times a request is tried. Zero means DefaultAttempts.
	Attempts int
	// Backoff is the mean pause before the second attempt. Zero means DefaultBackoff. If an error says how long to wait (see
	// cloudprovider.RetryAfter), the pause is as long as that, but at most MaxBackoff.
	Backoff time.Duration
	// MaxBackoff is the longest pause. Zero means DefaultMaxBackoff.
	MaxBackoff time.Duration
	// MaxBatches is how many merged calls are in progress at once. Zero means DefaultMaxBatches.
	MaxBatches int
	// Observe is called for each attempt of a merged call. Nil means none. It must be safe for concurrent use.
	Observe func(Attempt)
}

// Answer is the answer to one request.
type Answer[Res any] struct {
	// Value is valid if Err is nil.
	Value Res
	// Err is the error of this request; several requests may share one error.
	Err error
}

// Attempt describes one attempt of a merged call. Observe gets it once, even if several callers share its errors.
type Attempt struct {
	// Batcher is the name of the batcher.
	Batcher string
	// Number counts the attempts of a batch from 1.
	Number int
	// Size is the number of requests in the attempt.
	Size int
	// Waited is how long the batch's first call had waited for the window to close.
	Waited time.Duration
	// Errs are the distinct errors, in the order of the requests.
	Errs []error
}

// Batcher merges calls; see the package comment. It is safe for concurrent use. Make one with New.
type Batcher[Req, Res any] struct {
	options Options[Req, Res]
	slots   chan struct{}

	mu   sync.Mutex
	open map[string]*window[Req, Res]
}

// New makes a batcher.
func New[Req, Res any](o Options[Req, Res]) *Batcher[Req, Res] {
	o.Max = max(o.Max, o.Idle)
	if o.Attempts <= 0 {
		o.Attempts = DefaultAttempts
	}
	if o.Backoff <= 0 {
		o.Backoff = DefaultBackoff
	}
	if o.MaxBackoff <= 0 {
		o.MaxBackoff = DefaultMaxBackoff
	}
	if o.MaxBatches <= 0 {
		o.MaxBatches = DefaultMaxBatches
	}
	return &Batcher[Req, Res]{
		options: o,
		slots:   make(chan struct{}, o.MaxBatches),
		open:    map[string]*window[Req, Res]{},
	}
}

// window is a batch of calls. While it is open, calls may be added to it; after it is closed, the batch is in progress.
type window[Req, Res any] struct {
	bucket  string
	opened  time.Time
	timer   *time.Timer
	calls   []*call[Req, Res]
	waiting int // callers that still wait for an answer
	end     context.CancelFunc
}

type call[Req, Res any] struct {
	request Req
	answer  chan Answer[Res] // has capacity 1
	left    bool
}

// Call submits a request and waits for its answer. If ctx ends first, the returned error wraps the error of ctx; it is then unknown whether
// the request was made.
func (b *Batcher[Req, Res]) Call(ctx context.Context, request Req) (Res, error) {
	var none Res
	if err := ctx.Err(); err != nil {
		return none, b.left(err)
	}
	c := &call[Req, Res]{request: request, answer: make(chan Answer[Res], 1)}
	w := b.enter(c)
	select {
	case a := <-c.answer:
		return a.Value, a.Err
	case <-ctx.Done():
		b.leave(w, c)
		return none, b.left(ctx.Err())
	}
}

func (b *Batcher[Req, Res]) left(err error) error {
	return fmt.Errorf("waiting for the batch %s: %w", b.options.Name, err)
}

// enter adds a call to the open window of the call's bucket, and opens a window if the bucket has no open window.
func (b *Batcher[Req, Res]) enter(c *call[Req, Res]) *window[Req, Res] {
	bucket := ""
	if b.options.Bucket != nil {
		bucket = b.options.Bucket(c.request)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	w := b.open[bucket]
	if w == nil {
		w = &window[Req, Res]{bucket: bucket, opened: now}
		w.timer = time.AfterFunc(b.options.Idle, func() { b.expire(w) })
		b.open[bucket] = w
	} else {
		w.timer.Reset(max(0, min(b.options.Idle, b.options.Max-now.Sub(w.opened))))
	}
	w.calls = append(w.calls, c)
	w.waiting++
	if b.options.MaxItems > 0 && len(w.calls) >= b.options.MaxItems {
		b.dispatch(w)
	}
	return w
}

// leave removes a caller. If no caller is left, the batch is cancelled.
func (b *Batcher[Req, Res]) leave(w *window[Req, Res], c *call[Req, Res]) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if c.left {
		return
	}
	c.left = true
	w.waiting--
	switch {
	case w.end != nil:
		if w.waiting == 0 {
			w.end()
		}
	case w.waiting == 0:
		w.timer.Stop()
		delete(b.open, w.bucket)
	default:
		w.calls = slices.DeleteFunc(w.calls, func(other *call[Req, Res]) bool { return other == c })
	}
}

// expire closes a window after Idle or Max.
func (b *Batcher[Req, Res]) expire(w *window[Req, Res]) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.open[w.bucket] == w {
		b.dispatch(w)
	}
}

// dispatch closes a window and starts its batch. The batch has its own context, because the deadline of one caller must not affect the
// others.
func (b *Batcher[Req, Res]) dispatch(w *window[Req, Res]) {
	w.timer.Stop()
	delete(b.open, w.bucket)
	ctx, cancel := context.WithCancel(context.Background())
	w.end = cancel
	go func() {
		defer cancel()
		b.run(ctx, w)
	}()
}

// run repeats the merged call until every request has its final answer.
func (b *Batcher[Req, Res]) run(ctx context.Context, w *window[Req, Res]) {
	waited := time.Since(w.opened)
	pending := w.calls
	select {
	case b.slots <- struct{}{}:
		defer func() { <-b.slots }()
	case <-ctx.Done():
		return // nobody waits
	}
	for number := 1; ; number++ {
		if pending = b.present(pending); len(pending) == 0 {
			return
		}
		requests := make([]Req, len(pending))
		for i, c := range pending {
			requests[i] = c.request
		}
		answers := b.do(ctx, requests)
		b.observe(number, waited, answers)
		again := pending[:0:0]
		var longest time.Duration
		for i, c := range pending {
			if err := answers[i].Err; err != nil && number < b.options.Attempts && b.options.Retry != nil && b.options.Retry(err) {
				wait, _ := cloudprovider.RetryAfter(err)
				longest = max(longest, wait)
				again = append(again, c)
				continue
			}
			b.deliver(w, c, answers[i])
		}
		pending = again
		if len(pending) > 0 && !sleep(ctx, b.pause(number, longest)) {
			return
		}
	}
}

// do makes one attempt and ensures that there is an answer for each request.
func (b *Batcher[Req, Res]) do(ctx context.Context, requests []Req) []Answer[Res] {
	answers := b.options.Do(ctx, requests)
	if got := len(answers); got < len(requests) {
		missing := Answer[Res]{Err: fmt.Errorf("batch %s: %d requests got %d answers", b.options.Name, len(requests), got)}
		answers = append(answers, slices.Repeat([]Answer[Res]{missing}, len(requests)-got)...)
	}
	return answers
}

func (b *Batcher[Req, Res]) observe(number int, waited time.Duration, answers []Answer[Res]) {
	if b.options.Observe == nil {
		return
	}
	a := Attempt{Batcher: b.options.Name, Number: number, Size: len(answers), Waited: waited}
	for _, answer := range answers {
		known := answer.Err == nil || slices.ContainsFunc(a.Errs, func(err error) bool { return err.Error() == answer.Err.Error() })
		if !known {
			a.Errs = append(a.Errs, answer.Err)
		}
	}
	b.options.Observe(a)
}

// present returns the calls whose callers still wait.
func (b *Batcher[Req, Res]) present(calls []*call[Req, Res]) []*call[Req, Res] {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(calls), func(c *call[Req, Res]) bool { return c.left })
}

// deliver sends the answer to a caller that still waits.
func (b *Batcher[Req, Res]) deliver(w *window[Req, Res], c *call[Req, Res], a Answer[Res]) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if c.left {
		return
	}
	c.left = true
	w.waiting--
	c.answer <- a
}

// pause returns how long to wait after an attempt: the time that an error requests (the parameter asked) plus a random time. The random
// time is at most twice the mean pause, which doubles with each attempt. MaxBackoff limits the result. The random time keeps batches that
// failed together from being repeated together.
func (b *Batcher[Req, Res]) pause(number int, asked time.Duration) time.Duration {
	mean := b.options.Backoff << min(number-1, 16)
	spread := time.Duration(rand.Float64() * float64(min(2*mean, b.options.MaxBackoff)))
	return min(max(asked, 0)+spread, b.options.MaxBackoff)
}

// sleep waits for d. It returns false if the context ended first.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// Fail answers n requests with one error.
func Fail[Res any](n int, err error) []Answer[Res] {
	answers := make([]Answer[Res], n)
	for i := range answers {
		answers[i].Err = err
	}
	return answers
}

// Retryable reports whether an error is transient: throttling and transient failures are transient, the end of a context is not. It fits
// Options.Retry.
func Retryable(err error) bool {
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return false
	}
	kind := cloudprovider.KindOf(err)
	return kind == cloudprovider.Throttled || kind == cloudprovider.Transient
}
