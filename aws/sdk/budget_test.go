package sdk

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// spend takes n tokens at once and reports how long that took.
func spend(t *testing.T, b *Budget, n int, p Priority) time.Duration {
	t.Helper()
	start := time.Now()
	for range n {
		if err := b.Wait(t.Context(), ClassWrite, p); err != nil {
			t.Fatal(err)
		}
	}
	return time.Since(start).Round(time.Millisecond)
}

// AWI-234: a burst goes out at once, afterwards calls come at the rate of the bucket. OPP-12.
func TestBudgetRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := NewBudget(nil)
		if took := spend(t, b, 50, Urgent); took != 0 {
			t.Errorf("a burst of 50 writes took %s", took)
		}
		if took := spend(t, b, 10, Urgent); took != 2*time.Second {
			t.Errorf("10 writes after the burst took %s, want 2s at 5 a second", took)
		}
		time.Sleep(time.Hour)
		if took := spend(t, b, 51, Urgent); took != 200*time.Millisecond {
			t.Errorf("after a rest, 51 writes took %s: the bucket must hold 50 and no more", took)
		}
	})
}

func TestBudgetClassesAreApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := NewBudget(map[Class]Limit{ClassWrite: {PerSecond: 1, Burst: 1}, ClassRead: {PerSecond: 0}})
		spend(t, b, 1, Urgent)
		start := time.Now()
		for range 1000 {
			if err := errors.Join(b.Wait(t.Context(), ClassRead, Background), b.Wait(t.Context(), ClassOther, Background)); err != nil {
				t.Fatal(err)
			}
		}
		if took := time.Since(start); took != 0 {
			t.Errorf("classes without a limit waited %s", took)
		}
	})
}

// OPP-12: launches go before what is refreshed, however long the queue of that is.
func TestBudgetPriorities(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := NewBudget(map[Class]Limit{ClassWrite: {PerSecond: 1, Burst: 4}})
		spend(t, b, 4, Urgent)
		var mu sync.Mutex
		var order []string
		var wg sync.WaitGroup
		queue := func(name string, p Priority) {
			wg.Go(func() {
				if err := b.Wait(t.Context(), ClassWrite, p); err != nil {
					t.Error(err)
				}
				mu.Lock()
				defer mu.Unlock()
				order = append(order, name)
			})
			synctest.Wait()
		}
		queue("background", Background)
		queue("normal", Normal)
		queue("urgent 1", Urgent)
		queue("urgent 2", Urgent)
		wg.Wait()
		want := []string{"urgent 1", "urgent 2", "normal", "background"}
		for i := range want {
			if order[i] != want[i] {
				t.Fatalf("served %q, want %q", order, want)
			}
		}
	})
}

func TestBudgetNobodyStarves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := NewBudget(map[Class]Limit{ClassWrite: {PerSecond: 1, Burst: 1}})
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		for range 3 { // more urgent calls than there are tokens, without end
			go func() {
				for b.Wait(ctx, ClassWrite, Urgent) == nil {
				}
			}()
		}
		synctest.Wait()
		if took := spend(t, b, 1, Background); took > longestWait+2*time.Second {
			t.Errorf("a background call waited %s behind urgent ones, want about %s", took, longestWait)
		}
	})
}

func TestBudgetCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := NewBudget(map[Class]Limit{ClassWrite: {PerSecond: 1, Burst: 1}})
		spend(t, b, 1, Urgent)
		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		defer cancel()
		if err := b.Wait(ctx, ClassWrite, Urgent); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v, want the deadline", err)
		}
		if took := spend(t, b, 1, Urgent); took != 500*time.Millisecond {
			t.Errorf("the next call waited %s, want 500ms: who left must not take a token along", took)
		}
		ended, end := context.WithCancel(t.Context())
		end()
		if err := b.Wait(ended, ClassRead, Urgent); !errors.Is(err, context.Canceled) {
			t.Errorf("an ended context got %v", err)
		}
	})
}

// OPP-12: throttling slows a class down, for the whole process and for a while.
func TestBudgetThrottled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := NewBudget(map[Class]Limit{ClassWrite: {PerSecond: 10, Burst: 10}})
		b.Throttled(ClassWrite)
		b.Throttled(ClassWrite)
		if took := spend(t, b, 10, Urgent); took != 2*time.Second {
			t.Errorf("10 calls after throttling took %s, want 2s: the burst is gone and the rate halved once", took)
		}
		for range 20 {
			time.Sleep(2 * time.Second)
			b.Throttled(ClassWrite)
		}
		if took := spend(t, b, 5, Urgent); took != 4*time.Second {
			t.Errorf("5 calls took %s, want 4s: not slower than an eighth of the rate", took)
		}
		time.Sleep(3 * recovery)
		spend(t, b, 10, Urgent)
		if took := spend(t, b, 10, Urgent); took != time.Second {
			t.Errorf("10 calls took %s, want 1s: the rate has recovered", took)
		}
		b.Throttled(ClassOther)
	})
}

func TestClassOf(t *testing.T) {
	for call, want := range map[[2]string]Class{
		{"EC2", "DescribeInstances"}:    ClassRead,
		{"EC2", "CreateFleet"}:          ClassWrite,
		{"EC2", "CreateLaunchTemplate"}: ClassWrite,
		{"EC2", "RunInstances"}:         ClassRun,
		{"EC2", "TerminateInstances"}:   ClassTerminate,
		{"EC2", "CreateTags"}:           ClassTag,
		{"SSM", "GetParameter"}:         ClassParameters,
		{"Pricing", "GetProducts"}:      ClassPrices,
		{"IAM", "GetInstanceProfile"}:   ClassOther,
	} {
		if got := classOf(call[0], call[1]); got != want {
			t.Errorf("%s %s is of class %s, want %s", call[0], call[1], got, want)
		}
	}
}
