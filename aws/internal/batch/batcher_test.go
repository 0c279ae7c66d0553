package batch_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/drawknife/drawknife/aws/internal/batch"
	"github.com/drawknife/drawknife/cloudprovider"
)

// recorder answers each number with its double and remembers the batches.
type recorder struct {
	mu      sync.Mutex
	batches [][]int
	at      []time.Time
	answer  func(ctx context.Context, batch, request int) (int, error)
}

func (r *recorder) do(ctx context.Context, requests []int) []batch.Answer[int] {
	r.mu.Lock()
	r.batches = append(r.batches, requests)
	r.at = append(r.at, time.Now())
	n := len(r.batches)
	r.mu.Unlock()
	answers := make([]batch.Answer[int], len(requests))
	for i, request := range requests {
		answers[i].Value = 2 * request
		if r.answer != nil {
			answers[i].Value, answers[i].Err = r.answer(ctx, n, request)
		}
	}
	return answers
}

func options(r *recorder) batch.Options[int, int] {
	return batch.Options[int, int]{
		Name: "test", Idle: 100 * time.Millisecond, Max: time.Second, MaxItems: 500, Do: r.do, Retry: batch.Retryable,
	}
}

// AWI-192, AWI-194: what arrives close together is one call; every caller gets its own answer.
func TestMerge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &recorder{}
		b := batch.New(options(r))
		var wg sync.WaitGroup
		for i := range 120 {
			wg.Go(func() {
				if got, err := b.Call(t.Context(), i); err != nil || got != 2*i {
					t.Errorf("%d got %d, %v", i, got, err)
				}
			})
		}
		wg.Wait()
		if len(r.batches) != 1 || len(r.batches[0]) != 120 {
			t.Errorf("%d batches, want one of 120", len(r.batches))
		}
	})
}

// AWI-192: a window closes after the longest time although calls keep coming. OPP-12: and never holds too many.
func TestWindows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &recorder{}
		o := options(r)
		o.MaxItems = 7
		b := batch.New(o)
		start := time.Now()
		var wg sync.WaitGroup
		for i := range 30 { // all at once: chunks
			wg.Go(func() { _, _ = b.Call(t.Context(), i) })
		}
		wg.Wait()
		for i, items := range r.batches {
			if want := min(7, 30-7*i); len(items) != want {
				t.Errorf("batch %d has %d requests, want %d", i, len(items), want)
			}
		}
		if took := time.Since(start); took != 100*time.Millisecond {
			t.Errorf("took %s: full windows must not wait, the last one only until it is idle", took)
		}

		r.batches, r.at = nil, nil
		o.MaxItems = 0
		b = batch.New(o)
		start = time.Now()
		for i := range 30 { // one every 60 ms: never idle for 100
			wg.Go(func() { _, _ = b.Call(t.Context(), i) })
			time.Sleep(60 * time.Millisecond)
		}
		wg.Wait()
		if first := r.at[0].Sub(start); first != time.Second {
			t.Errorf("the first window closed after %s, want 1s", first)
		}
	})
}

func TestBuckets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &recorder{}
		o := options(r)
		o.Bucket = func(i int) string { return fmt.Sprint(i % 3) }
		b := batch.New(o)
		var wg sync.WaitGroup
		for i := range 30 {
			wg.Go(func() { _, _ = b.Call(t.Context(), i) })
		}
		wg.Wait()
		if len(r.batches) != 3 {
			t.Fatalf("%d batches, want one for each bucket", len(r.batches))
		}
		for _, items := range r.batches {
			for _, i := range items {
				if i%3 != items[0]%3 {
					t.Errorf("%d and %d of two buckets were merged", i, items[0])
				}
			}
		}
	})
}

// AWI-199, OPP-12: one caller's context ends that caller's wait alone, also when it was the first, before the window has
// closed or after.
func TestCancelOne(t *testing.T) {
	for name, after := range map[string]time.Duration{"in the window": 50 * time.Millisecond, "under way": 150 * time.Millisecond} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := &recorder{answer: func(ctx context.Context, _, i int) (int, error) {
					select {
					case <-time.After(time.Second):
						return 2 * i, nil
					case <-ctx.Done():
						return 0, ctx.Err()
					}
				}}
				b := batch.New(options(r))
				ctx, cancel := context.WithTimeout(t.Context(), after)
				defer cancel()
				var wg sync.WaitGroup
				wg.Go(func() {
					if _, err := b.Call(ctx, 1); !errors.Is(err, context.DeadlineExceeded) {
						t.Errorf("the hasty caller got %v", err)
					}
				})
				synctest.Wait()
				wg.Go(func() {
					if got, err := b.Call(t.Context(), 2); err != nil || got != 4 {
						t.Errorf("the patient caller got %d, %v", got, err)
					}
				})
				wg.Wait()
			})
		})
	}
}

// CP-CONCURRENCY-03: the merged call ends with its last caller and leaves nothing behind (synctest fails if it does).
func TestCancelAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := false
		r := &recorder{answer: func(ctx context.Context, _, _ int) (int, error) {
			<-ctx.Done()
			ended = true
			return 0, ctx.Err()
		}}
		b := batch.New(options(r))
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		for i := range 3 {
			wg.Go(func() { _, _ = b.Call(ctx, i) })
		}
		time.Sleep(200 * time.Millisecond)
		cancel()
		wg.Wait()
		synctest.Wait()
		if !ended || len(r.batches) != 1 {
			t.Errorf("ended %v after %d batches", ended, len(r.batches))
		}
		if _, err := b.Call(ctx, 1); !errors.Is(err, context.Canceled) {
			t.Errorf("a call with an ended context got %v", err)
		}
		short, stop := context.WithTimeout(t.Context(), time.Millisecond)
		defer stop()
		_, _ = b.Call(short, 1)
		time.Sleep(time.Second)
		if len(r.batches) != 1 {
			t.Error("a window that everybody had left was called")
		}
	})
}

// OPP-12: what passes by itself is tried again inside the batch, only for those it concerns, with growing pauses.
func TestRetry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &recorder{answer: func(_ context.Context, batch, i int) (int, error) {
			switch {
			case i == 1 && batch < 3:
				return 0, cloudprovider.NewThrottledError("CreateFleet", 3*time.Second, nil)
			case i == 2:
				return 0, cloudprovider.NewPermanentError(errors.New("bad request"))
			}
			return 2 * i, nil
		}}
		b := batch.New(options(r))
		var wg sync.WaitGroup
		for i := range 3 {
			wg.Go(func() {
				got, err := b.Call(t.Context(), i)
				if i == 2 != cloudprovider.IsPermanent(err) || i != 2 && got != 2*i {
					t.Errorf("%d got %d, %v", i, got, err)
				}
			})
		}
		wg.Wait()
		if len(r.batches) != 3 || len(r.batches[1]) != 1 || r.batches[1][0] != 1 {
			t.Errorf("batches %v: want all, then twice the throttled one alone", r.batches)
		}
		if pause := r.at[1].Sub(r.at[0]); pause < 3*time.Second {
			t.Errorf("tried again after %s although 3s were asked for", pause)
		}
	})
}

// No unbounded retry; and a failure that many share is told to the observer once an attempt (AWI-197, AWI-242).
func TestRetriesEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &recorder{answer: func(context.Context, int, int) (int, error) {
			return 0, cloudprovider.NewThrottledError("CreateFleet", time.Hour, nil)
		}}
		var told []batch.Attempt
		o := options(r)
		o.Observe = func(a batch.Attempt) { told = append(told, a) }
		b := batch.New(o)
		start := time.Now()
		var wg sync.WaitGroup
		for i := range 40 {
			wg.Go(func() {
				if _, err := b.Call(t.Context(), i); !cloudprovider.IsThrottled(err) {
					t.Errorf("got %v", err)
				}
			})
		}
		wg.Wait()
		if len(told) != batch.DefaultAttempts {
			t.Fatalf("%d attempts, want %d", len(told), batch.DefaultAttempts)
		}
		for i, a := range told {
			if a.Number != i+1 || a.Size != 40 || len(a.Errs) != 1 || a.Batcher != "test" || a.Waited != 100*time.Millisecond {
				t.Errorf("told %+v", a)
			}
		}
		if took := time.Since(start); took > batch.DefaultAttempts*batch.DefaultMaxBackoff {
			t.Errorf("took %s: the cloud's hour must not be waited for inside a batch", took)
		}
	})
}

// AWI-192: at most so many merged calls at once.
func TestMaxBatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var now, most atomic.Int32
		o := options(&recorder{})
		o.MaxItems, o.MaxBatches = 1, 4
		o.Do = func(_ context.Context, requests []int) []batch.Answer[int] {
			most.Store(max(most.Load(), now.Add(1)))
			time.Sleep(time.Second)
			now.Add(-1)
			return make([]batch.Answer[int], len(requests))
		}
		b := batch.New(o)
		var wg sync.WaitGroup
		for i := range 20 {
			wg.Go(func() { _, _ = b.Call(t.Context(), i) })
		}
		wg.Wait()
		if most.Load() != 4 {
			t.Errorf("%d at once, want 4", most.Load())
		}
	})
}

func TestMissingAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := options(&recorder{})
		o.Retry = nil
		o.Do = func(context.Context, []int) []batch.Answer[int] { return nil }
		b := batch.New(o)
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() {
				if _, err := b.Call(t.Context(), 1); err == nil || !strings.Contains(err.Error(), "3 requests got 0 answers") {
					t.Errorf("a request without an answer got %v", err)
				}
			})
		}
		wg.Wait()
	})
}

// Many goroutines, many of them hasty: for the race detector.
func TestConcurrent(t *testing.T) {
	r := &recorder{}
	o := options(r)
	o.Idle, o.Max, o.MaxItems = time.Millisecond, 2*time.Millisecond, 20
	b := batch.New(o)
	var wg sync.WaitGroup
	for i := range 500 {
		wg.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i%5)*time.Millisecond+time.Duration(i%2)*time.Minute)
			defer cancel()
			if got, err := b.Call(ctx, i); err == nil && got != 2*i {
				t.Errorf("%d got %d", i, got)
			} else if err != nil && !errors.Is(err, context.DeadlineExceeded) {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}
