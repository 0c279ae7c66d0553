package provisioning

import (
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/drawknife/drawknife/api/option"
)

// RateLimiterOptions limit how fast a controller may launch nodes, so that a mistake in a manifest, a price list or this library costs
// little until somebody notices it. A limit with its zero value is off. DefaultRateLimiterOptions sets no limits, only the windows and
// FailureSamples.
type RateLimiterOptions struct {
	// NodesPerMinute is the maximum number of launches in any minute.
	NodesPerMinute int
	// CostIncrease is the maximum increase of the hourly cost by launches in any CostWindow, in USD per hour; nodes removed in the
	// meantime are not subtracted.
	CostIncrease float64
	// CostWindow is the window of CostIncrease; more than 0 if that is set.
	CostWindow time.Duration
	// FailureRate, from 0 to 1, stops launches if at least this share of the launches that ended in the last FailureWindow failed. One
	// launch at a time is still allowed, as a test. Missing capacity does not count as a failure, because the planner avoids such
	// offerings.
	FailureRate float64
	// FailureWindow is the window of FailureRate; more than 0 if that is set.
	FailureWindow time.Duration
	// FailureSamples is the minimum number of ended launches for which the rate is used; at least 1 if FailureRate is set.
	FailureSamples int
}

// minuteWindow is the period in which the limit NodesPerMinute counts launches.
const minuteWindow = time.Minute

// DefaultRateLimiterOptions returns options without limits, with windows of ten minutes and ten FailureSamples: set the limits that you
// want.
func DefaultRateLimiterOptions() RateLimiterOptions {
	return RateLimiterOptions{CostWindow: 10 * time.Minute, FailureWindow: 10 * time.Minute, FailureSamples: 10}
}

// RateLimitRule names a limit that refused a launch.
type RateLimitRule string

// The rules.
const (
	RuleNodesPerMinute RateLimitRule = "NodesPerMinute"
	RuleCostIncrease   RateLimitRule = "CostIncrease"
	RuleFailureRate    RateLimitRule = "FailureRate"
)

// RateLimitError is a launch that the launch rate limiter refused. The claim is not the cause of the refusal: try it again later.
type RateLimitError struct {
	// Rule that refused the launch.
	Rule RateLimitRule
	// Limit is the configured limit, Current the current value, in the rule's unit: launches, USD per hour, a share of 1.
	Limit, Current float64
	// RetryAt is when the rule may allow the launch, if nothing else happens.
	RetryAt time.Time
}

func (e *RateLimitError) Error() string {
	switch e.Rule {
	case RuleNodesPerMinute:
		return fmt.Sprintf("launch held back: %.0f launches were allowed in the last minute and NodesPerMinute is %.0f; next at %s", e.Current, e.Limit, e.RetryAt.UTC().Format(time.RFC3339))
	case RuleCostIncrease:
		return fmt.Sprintf("launch held back: it would raise the hourly cost by %.2f USD in all and CostIncrease is %.2f; next at %s", e.Current, e.Limit, e.RetryAt.UTC().Format(time.RFC3339))
	}
	return fmt.Sprintf("launch held back: %.0f %% of recent launches failed and FailureRate is %.0f %%; next try at %s: look into the failures", 100*e.Current, 100*e.Limit, e.RetryAt.UTC().Format(time.RFC3339))
}

// RateLimiter is the launch rate limiter. It is safe for concurrent use. Its memory is bounded by the launches in its longest window.
type RateLimiter struct {
	options RateLimiterOptions

	mu       sync.Mutex
	admitted []admission // by time
	outcomes []outcome   // by time
	// probing is the ID of the launch that is allowed as a test although too many launches have failed.
	probing string
}

type admission struct {
	id    string
	at    time.Time
	price float64
}

type outcome struct {
	at     time.Time
	failed bool
}

// NewRateLimiter returns a launch rate limiter. The error is an *option.Error.
func NewRateLimiter(o RateLimiterOptions) (*RateLimiter, error) {
	switch {
	case o.NodesPerMinute < 0, o.CostIncrease < 0, o.CostWindow < 0, o.FailureWindow < 0, o.FailureSamples < 0, math.IsNaN(o.CostIncrease):
		return nil, &option.Error{Package: "provisioning", Option: "RateLimiter", Rule: "NodesPerMinute, CostIncrease, CostWindow, FailureWindow and FailureSamples must be numbers that are not negative"}
	case o.CostIncrease > 0 && o.CostWindow == 0:
		return nil, &option.Error{Package: "provisioning", Option: "RateLimiter.CostWindow", Rule: "is 0: set the period of CostIncrease, or start from DefaultRateLimiterOptions"}
	case o.FailureRate > 0 && (o.FailureWindow == 0 || o.FailureSamples == 0):
		return nil, &option.Error{
			Package: "provisioning", Option: "RateLimiter.FailureWindow, RateLimiter.FailureSamples",
			Rule: "both must be set with FailureRate: set them, or start from DefaultRateLimiterOptions",
		}
	case !(o.FailureRate >= 0 && o.FailureRate <= 1):
		return nil, &option.Error{Package: "provisioning", Option: "RateLimiter.FailureRate", Rule: fmt.Sprintf("%v is not within 0 and 1", o.FailureRate)}
	}
	return &RateLimiter{options: o}, nil
}

// Admit allows a launch, or returns a *RateLimitError with the reason and the time to retry. price is the price of the node, in USD per
// hour. id identifies the claim: if Admit is called again for an allowed launch, because the answer was lost, it is allowed again and
// counts once.
func (g *RateLimiter) Admit(id string, price float64, now time.Time) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.forget(now)
	if slices.ContainsFunc(g.admitted, func(a admission) bool { return a.id == id }) {
		return nil
	}
	for _, rule := range []func(float64, time.Time) *RateLimitError{g.nodesPerMinute, g.costIncrease, g.failureRate} {
		if refusal := rule(price, now); refusal != nil {
			return refusal
		}
	}
	if rate, known := g.rate(); known && g.tooMany(rate) {
		g.probing = id
	}
	g.admitted = append(g.admitted, admission{id: id, at: now, price: price})
	return nil
}

// Allows reports whether launches at these prices would be allowed together now; if not, the *RateLimitError has the reason and the time to
// retry. It does not admit the launches: call Admit for each. More launches than NodesPerMinute are treated like NodesPerMinute launches.
func (g *RateLimiter) Allows(prices []float64, now time.Time) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.forget(now)
	if len(prices) == 0 {
		return nil
	}
	sum := 0.0
	for _, p := range prices {
		sum += p
	}
	for _, refusal := range []*RateLimitError{g.together(len(prices), now), g.costIncrease(sum, now), g.failureRate(sum, now)} {
		if refusal != nil {
			return refusal
		}
	}
	return nil
}

// Outcome records the result of an admitted launch.
func (g *RateLimiter) Outcome(id string, failed bool, now time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.outcomes = append(g.outcomes, outcome{at: now, failed: failed})
	if g.probing == id {
		g.probing = ""
		if !failed {
			g.outcomes = nil // the launch succeeded, so earlier failures no longer count
		}
	}
	g.forget(now)
}

// Withdraw forgets an admitted launch that was not carried out or found no capacity.
func (g *RateLimiter) Withdraw(id string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.admitted = slices.DeleteFunc(g.admitted, func(a admission) bool { return a.id == id })
	if g.probing == id {
		g.probing = ""
	}
}

// rename changes the ID of a launch.
func (g *RateLimiter) rename(id, to string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for i := range g.admitted {
		if g.admitted[i].id == id {
			g.admitted[i].id = to
		}
	}
	if g.probing == id {
		g.probing = to
	}
}

func (g *RateLimiter) nodesPerMinute(_ float64, now time.Time) *RateLimitError {
	return g.together(1, now)
}

// together returns an error if NodesPerMinute does not allow this number of launches at once.
func (g *RateLimiter) together(launches int, now time.Time) *RateLimitError {
	most := g.options.NodesPerMinute
	if most == 0 {
		return nil
	}
	recent := since(g.admitted, now.Add(-minuteWindow))
	room := most - min(launches, most) // number of earlier launches that may be in the same window
	if len(recent) <= room {
		return nil
	}
	return &RateLimitError{
		Rule: RuleNodesPerMinute, Limit: float64(most), Current: float64(len(recent)),
		RetryAt: recent[len(recent)-room-1].at.Add(minuteWindow),
	}
}

func (g *RateLimiter) costIncrease(price float64, now time.Time) *RateLimitError {
	if g.options.CostIncrease == 0 {
		return nil
	}
	recent := since(g.admitted, now.Add(-g.options.CostWindow))
	sum := price
	for _, a := range recent {
		sum += a.price
	}
	if sum <= g.options.CostIncrease {
		return nil
	}
	refusal := &RateLimitError{Rule: RuleCostIncrease, Limit: g.options.CostIncrease, Current: sum, RetryAt: now.Add(g.options.CostWindow)}
	for _, a := range recent {
		if sum -= a.price; sum <= g.options.CostIncrease {
			refusal.RetryAt = a.at.Add(g.options.CostWindow)
			break
		}
	}
	return refusal
}

func (g *RateLimiter) failureRate(_ float64, now time.Time) *RateLimitError {
	rate, known := g.rate()
	if !known || !g.tooMany(rate) || g.probing == "" {
		return nil
	}
	return &RateLimitError{Rule: RuleFailureRate, Limit: g.options.FailureRate, Current: rate, RetryAt: g.outcomes[0].at.Add(g.options.FailureWindow)}
}

func (g *RateLimiter) tooMany(rate float64) bool {
	return g.options.FailureRate > 0 && rate >= g.options.FailureRate
}

// rate returns the share of the launches in FailureWindow that failed. It returns false if fewer than FailureSamples launches have ended.
func (g *RateLimiter) rate() (float64, bool) {
	if len(g.outcomes) < g.options.FailureSamples {
		return 0, false
	}
	failed := 0
	for _, o := range g.outcomes {
		if o.failed {
			failed++
		}
	}
	return float64(failed) / float64(len(g.outcomes)), true
}

// forget drops launches and outcomes that no window contains any more.
func (g *RateLimiter) forget(now time.Time) {
	longest := max(minuteWindow, g.options.CostWindow)
	g.admitted = slices.Clone(since(g.admitted, now.Add(-longest)))
	start := now.Add(-g.options.FailureWindow)
	g.outcomes = slices.DeleteFunc(g.outcomes, func(o outcome) bool { return !o.at.After(start) })
}

// since returns the entries of the list that are later than start. An entry at exactly start is left out.
func since(list []admission, start time.Time) []admission {
	at, _ := slices.BinarySearchFunc(list, start, func(a admission, t time.Time) int {
		if a.at.After(t) {
			return 1
		}
		return -1
	})
	return list[at:]
}
