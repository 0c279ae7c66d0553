package provisioning

import (
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/drawknife/drawknife/api/option"
)

// GovernorOptions bound how much a controller may change in how short a time, so that a mistake, in a manifest, a price
// list or this library, costs little before somebody looks. Each bound is off at its zero value; DefaultGovernorOptions has the windows.
type GovernorOptions struct {
	// NodesPerMinute is how many launches are let through in any minute.
	NodesPerMinute int
	// CostIncrease is by how much, in USD per hour, launches may raise the hourly cost in any CostWindow; what was
	// removed meanwhile is not set against it.
	CostIncrease float64
	// CostWindow is for CostIncrease, and more than 0 with it.
	CostWindow time.Duration
	// FailureRate, within 0 and 1, is the share of failed launches among those that ended in the last FailureWindow
	// at which no more are let through, but for one at a time to see whether it goes again. Failures for want of
	// capacity are no failures in this sense: they are the cloud's to tell and the planner's to avoid.
	FailureRate float64
	// FailureWindow is for FailureRate, and more than 0 with it.
	FailureWindow time.Duration
	// FailureSamples is how many launches have to have ended for the rate to mean something; at least 1 with FailureRate.
	FailureSamples int
}

// minuteWindow is the window of NodesPerMinute.
const minuteWindow = time.Minute

// DefaultGovernorOptions have no bound, windows of ten minutes, and take ten launches for a rate: set the bounds that you want.
func DefaultGovernorOptions() GovernorOptions {
	return GovernorOptions{CostWindow: 10 * time.Minute, FailureWindow: 10 * time.Minute, FailureSamples: 10}
}

// GovernorRule names a bound that refused a launch.
type GovernorRule string

// The rules.
const (
	RuleNodesPerMinute GovernorRule = "NodesPerMinute"
	RuleCostIncrease   GovernorRule = "CostIncrease"
	RuleFailureRate    GovernorRule = "FailureRate"
)

// GovernedError is a launch that the launch rate limiter did not let through. It is not a fault of the claim: try it again.
type GovernedError struct {
	// Rule that refused it.
	Rule GovernorRule
	// Limit is the bound, Current what it stands at, in the rule's unit: launches, USD per hour, a share of 1.
	Limit, Current float64
	// RetryAt is when the rule may let it through, if nothing else happens.
	RetryAt time.Time
}

func (e *GovernedError) Error() string {
	switch e.Rule {
	case RuleNodesPerMinute:
		return fmt.Sprintf("launch held back: %.0f were let through in the last minute and NodesPerMinute is %.0f; next at %s", e.Current, e.Limit, e.RetryAt.UTC().Format(time.RFC3339))
	case RuleCostIncrease:
		return fmt.Sprintf("launch held back: it would raise the hourly cost by %.2f USD in all and CostIncrease is %.2f; next at %s", e.Current, e.Limit, e.RetryAt.UTC().Format(time.RFC3339))
	}
	return fmt.Sprintf("launch held back: %.0f %% of recent launches failed and FailureRate is %.0f %%; next try at %s: look into the failures", 100*e.Current, 100*e.Limit, e.RetryAt.UTC().Format(time.RFC3339))
}

// Governor lets launches through within bounds. It is safe for concurrent use. What it remembers is bounded by the
// launches of its longest window.
type Governor struct {
	options GovernorOptions

	mu       sync.Mutex
	admitted []admission // by time
	outcomes []outcome   // by time
	// probing is the launch that is let through although too many fail.
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

// NewGovernor makes a governor. The error is an *option.Error.
func NewGovernor(o GovernorOptions) (*Governor, error) {
	switch {
	case o.NodesPerMinute < 0, o.CostIncrease < 0, o.CostWindow < 0, o.FailureWindow < 0, o.FailureSamples < 0, math.IsNaN(o.CostIncrease):
		return nil, &option.Error{Package: "provisioning", Option: "Governor", Rule: "a bound is negative or not a number"}
	case o.CostIncrease > 0 && o.CostWindow == 0:
		return nil, &option.Error{Package: "provisioning", Option: "Governor.CostWindow", Rule: "is 0: say within which time CostIncrease counts, or start from DefaultGovernorOptions"}
	case o.FailureRate > 0 && (o.FailureWindow == 0 || o.FailureSamples == 0):
		return nil, &option.Error{
			Package: "provisioning", Option: "Governor.FailureWindow, Governor.FailureSamples",
			Rule: "one is 0: say how many launches of which time FailureRate is of, or start from DefaultGovernorOptions",
		}
	case !(o.FailureRate >= 0 && o.FailureRate <= 1):
		return nil, &option.Error{Package: "provisioning", Option: "Governor.FailureRate", Rule: fmt.Sprintf("%v is not within 0 and 1", o.FailureRate)}
	}
	return &Governor{options: o}, nil
}

// Admit lets a launch through at the time now, or says with a *GovernedError why not and until when. price is what the
// node will cost, in USD per hour. id is the claim's: a launch that was let through and is asked about again, because
// its answer was lost, is let through again and counts once.
func (g *Governor) Admit(id string, price float64, now time.Time) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.forget(now)
	if slices.ContainsFunc(g.admitted, func(a admission) bool { return a.id == id }) {
		return nil
	}
	for _, rule := range []func(float64, time.Time) *GovernedError{g.nodesPerMinute, g.costIncrease, g.failureRate} {
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

// Allows says whether launches at the prices would be let through together at the time now, with a *GovernedError why not and until when. It lets
// none through: ask Admit for each. More launches than NodesPerMinute are judged as that many.
func (g *Governor) Allows(prices []float64, now time.Time) error {
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
	for _, refusal := range []*GovernedError{g.together(len(prices), now), g.costIncrease(sum, now), g.failureRate(sum, now)} {
		if refusal != nil {
			return refusal
		}
	}
	return nil
}

// Outcome says how a launch that was let through ended.
func (g *Governor) Outcome(id string, failed bool, now time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.outcomes = append(g.outcomes, outcome{at: now, failed: failed})
	if g.probing == id {
		g.probing = ""
		if !failed {
			g.outcomes = nil // it goes again: what failed before says no more
		}
	}
	g.forget(now)
}

// Withdraw forgets a launch that was let through and then not done, or found no capacity: it changed nothing.
func (g *Governor) Withdraw(id string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.admitted = slices.DeleteFunc(g.admitted, func(a admission) bool { return a.id == id })
	if g.probing == id {
		g.probing = ""
	}
}

// rename knows a launch under another ID from now on.
func (g *Governor) rename(id, to string) {
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

func (g *Governor) nodesPerMinute(_ float64, now time.Time) *GovernedError { return g.together(1, now) }

// together is the refusal of so many launches by NodesPerMinute, if it has no room for them.
func (g *Governor) together(launches int, now time.Time) *GovernedError {
	most := g.options.NodesPerMinute
	if most == 0 {
		return nil
	}
	recent := since(g.admitted, now.Add(-minuteWindow))
	room := most - min(launches, most) // what may be in the window beside them
	if len(recent) <= room {
		return nil
	}
	return &GovernedError{
		Rule: RuleNodesPerMinute, Limit: float64(most), Current: float64(len(recent)),
		RetryAt: recent[len(recent)-room-1].at.Add(minuteWindow),
	}
}

func (g *Governor) costIncrease(price float64, now time.Time) *GovernedError {
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
	refusal := &GovernedError{Rule: RuleCostIncrease, Limit: g.options.CostIncrease, Current: sum, RetryAt: now.Add(g.options.CostWindow)}
	for _, a := range recent {
		if sum -= a.price; sum <= g.options.CostIncrease {
			refusal.RetryAt = a.at.Add(g.options.CostWindow)
			break
		}
	}
	return refusal
}

func (g *Governor) failureRate(_ float64, now time.Time) *GovernedError {
	rate, known := g.rate()
	if !known || !g.tooMany(rate) || g.probing == "" {
		return nil
	}
	return &GovernedError{Rule: RuleFailureRate, Limit: g.options.FailureRate, Current: rate, RetryAt: g.outcomes[0].at.Add(g.options.FailureWindow)}
}

func (g *Governor) tooMany(rate float64) bool {
	return g.options.FailureRate > 0 && rate >= g.options.FailureRate
}

// rate is the share of recent launches that failed; false while too few have ended.
func (g *Governor) rate() (float64, bool) {
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

// forget drops what no window looks at any more.
func (g *Governor) forget(now time.Time) {
	longest := max(minuteWindow, g.options.CostWindow)
	g.admitted = slices.Clone(since(g.admitted, now.Add(-longest)))
	start := now.Add(-g.options.FailureWindow)
	g.outcomes = slices.DeleteFunc(g.outcomes, func(o outcome) bool { return !o.at.After(start) })
}

// since is the part of the list after the time; one just as old as the window is out of it.
func since(list []admission, start time.Time) []admission {
	at, _ := slices.BinarySearchFunc(list, start, func(a admission, t time.Time) int {
		if a.at.After(t) {
			return 1
		}
		return -1
	})
	return list[at:]
}
