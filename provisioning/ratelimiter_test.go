package provisioning_test

import (
	"errors"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/drawknife/drawknife/api/option"
	"github.com/drawknife/drawknife/provisioning"
)

func newRateLimiter(t *testing.T, o provisioning.RateLimiterOptions) *provisioning.RateLimiter {
	t.Helper()
	g, err := provisioning.NewRateLimiter(o)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func refusal(t *testing.T, err error, rule provisioning.RateLimitRule, retryAt time.Time) *provisioning.RateLimitError {
	t.Helper()
	var limited *provisioning.RateLimitError
	if !errors.As(err, &limited) || limited.Rule != rule || !limited.RetryAt.Equal(retryAt) {
		t.Fatalf("%v, want a refusal by %s until %s", err, rule, retryAt)
	}
	return limited
}

func admit(t *testing.T, g *provisioning.RateLimiter, id string, price float64, now time.Time) {
	t.Helper()
	if err := g.Admit(id, price, now); err != nil {
		t.Fatal(err)
	}
}

func TestNodesPerMinute(t *testing.T) {
	g := newRateLimiter(t, provisioning.RateLimiterOptions{NodesPerMinute: 2})
	admit(t, g, "a", 1, at(0))
	admit(t, g, "b", 1, at(10))
	admit(t, g, "b", 1, at(11)) // asked about again
	got := refusal(t, g.Admit("c", 1, at(12)), provisioning.RuleNodesPerMinute, at(60))
	if want := "launch held back: 2 launches were allowed in the last minute and NodesPerMinute is 2; next at 2026-05-04T12:01:00Z"; got.Error() != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	admit(t, g, "c", 1, at(60))
	refusal(t, g.Admit("d", 1, at(69)), provisioning.RuleNodesPerMinute, at(70))
	g.Withdraw("c") // found no capacity, so that nothing has changed
	admit(t, g, "d", 1, at(69))
}

// Whether several launches would be let through together is asked without letting any through.
func TestRateLimiterAllows(t *testing.T) {
	g := newRateLimiter(t, provisioning.RateLimiterOptions{NodesPerMinute: 3, CostIncrease: 10, CostWindow: time.Hour})
	for range 2 {
		if err := errors.Join(g.Allows([]float64{1, 1, 1}, at(0)), g.Allows(make([]float64, 9), at(0)), g.Allows(nil, at(0)), g.Allows([]float64{10}, at(0))); err != nil {
			t.Fatal(err)
		}
	}
	admit(t, g, "a", 1, at(0))
	admit(t, g, "b", 1, at(10))
	if err := g.Allows([]float64{1}, at(20)); err != nil {
		t.Fatal(err)
	}
	refusal(t, g.Allows([]float64{1, 1}, at(20)), provisioning.RuleNodesPerMinute, at(60))
	refusal(t, g.Allows([]float64{1, 1, 1}, at(20)), provisioning.RuleNodesPerMinute, at(70))
	refusal(t, g.Allows(make([]float64, 9), at(20)), provisioning.RuleNodesPerMinute, at(70))
	refusal(t, g.Allows([]float64{5, 4}, at(71)), provisioning.RuleCostIncrease, at(3600))
	if err := g.Allows([]float64{4, 4}, at(71)); err != nil {
		t.Fatal(err)
	}
	admit(t, g, "c", 8, at(71))
}

func TestCostIncrease(t *testing.T) {
	g := newRateLimiter(t, provisioning.RateLimiterOptions{CostIncrease: 10, CostWindow: time.Hour})
	admit(t, g, "a", 4, at(0))
	admit(t, g, "b", 6, at(60))
	refusal(t, g.Admit("c", 0.01, at(120)), provisioning.RuleCostIncrease, at(3600))
	refusal(t, g.Admit("c", 6, at(120)), provisioning.RuleCostIncrease, at(3660))
	refusal(t, g.Admit("big", 11, at(120)), provisioning.RuleCostIncrease, at(3720)) // never, as things are
	admit(t, g, "c", 4, at(3600))
}

// A rate means something once enough launches have ended; then one launch at a time tries whether it goes again.
func TestFailureRate(t *testing.T) {
	g := newRateLimiter(t, provisioning.RateLimiterOptions{FailureRate: 0.5, FailureSamples: 4, FailureWindow: time.Minute})
	for i := range 4 {
		id := fmt.Sprint(i)
		admit(t, g, id, 1, at(float64(i)))
		g.Outcome(id, i > 1, at(float64(i)))
	}
	admit(t, g, "probe", 1, at(5))
	got := refusal(t, g.Admit("other", 1, at(5)), provisioning.RuleFailureRate, at(60))
	if got.Current != 0.5 {
		t.Errorf("rate %v, want 0.5", got.Current)
	}
	g.Outcome("probe", true, at(6))
	admit(t, g, "probe 2", 1, at(7))
	refusal(t, g.Admit("other", 1, at(7)), provisioning.RuleFailureRate, at(60))
	g.Withdraw("probe 2")
	admit(t, g, "probe 3", 1, at(8))
	g.Outcome("probe 3", false, at(9))
	admit(t, g, "other", 1, at(9))
	admit(t, g, "another", 1, at(9))
}

// Failures of long ago say nothing.
func TestFailuresAreForgotten(t *testing.T) {
	g := newRateLimiter(t, provisioning.RateLimiterOptions{FailureRate: 0.5, FailureSamples: 1, FailureWindow: time.Minute})
	g.Outcome("a", true, at(0))
	admit(t, g, "probe", 1, at(1))
	refusal(t, g.Admit("b", 1, at(59)), provisioning.RuleFailureRate, at(60))
	admit(t, g, "b", 1, at(60))
}

func TestRateLimiterOptions(t *testing.T) {
	for _, o := range []provisioning.RateLimiterOptions{
		{NodesPerMinute: -1}, {CostIncrease: -1}, {CostIncrease: math.NaN()}, {FailureRate: 1.5}, {FailureRate: math.NaN()}, {FailureWindow: -1},
		{CostIncrease: 5}, {FailureRate: 0.5, FailureSamples: 1}, {FailureRate: 0.5, FailureWindow: time.Minute},
	} {
		var wrong *option.Error
		if _, err := provisioning.NewRateLimiter(o); !errors.As(err, &wrong) {
			t.Errorf("%+v: %v", o, err)
		}
	}
	g := newRateLimiter(t, provisioning.RateLimiterOptions{})
	for i := range 1000 {
		admit(t, g, fmt.Sprint(i), 1e6, start)
		g.Outcome(fmt.Sprint(i), true, start)
	}
}

func TestRateLimiterSideBySide(t *testing.T) {
	g := newRateLimiter(t, provisioning.RateLimiterOptions{NodesPerMinute: 7})
	var through atomic.Int64
	var wg sync.WaitGroup
	for i := range 50 {
		wg.Go(func() {
			if g.Admit(fmt.Sprint(i), 1, start) == nil {
				through.Add(1)
			}
		})
	}
	wg.Wait()
	if through.Load() != 7 {
		t.Errorf("%d let through, want 7", through.Load())
	}
}
