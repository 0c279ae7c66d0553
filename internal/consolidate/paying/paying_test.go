package paying_test

import (
	"testing"
	"time"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/disruption/decision"
	"github.com/drawknife/drawknife/internal/consolidate/money"
	"github.com/drawknife/drawknife/internal/consolidate/paying"
	"github.com/drawknife/drawknife/internal/consolidate/reference"
	"github.com/drawknife/drawknife/internal/consolidate/searchcontext"
	"github.com/drawknife/drawknife/internal/fleettest"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// there is a node that costs so much, with as much disruption.
func there(price, cost float64) *searchcontext.Candidate {
	return &searchcontext.Candidate{Candidate: &decision.Candidate{Pool: &planning.NodePool{Object: &v1.NodePool{}}, Price: price, Cost: cost}, NanoPrice: money.NanoUSD(price)}
}

func with(c *searchcontext.Candidate, change func(*searchcontext.Candidate)) *searchcontext.Candidate {
	change(c)
	return c
}

func due(c *searchcontext.Candidate)     { c.Due = true }
func planned(c *searchcontext.Candidate) { c.Planned = true }

// The least saving is the larger of a share of the price and an amount; planned nodes ask for none. What must go anyway may cost anything.
func TestRequiredAndMost(t *testing.T) {
	terms := paying.Terms{MinSaving: 0.03, MinSavingShare: 0.1}
	for _, c := range []struct {
		name           string
		method         decision.Method
		group          []*searchcontext.Candidate
		required, most float64
	}{
		{"a cheap node: the amount", decision.MethodSingleNode, []*searchcontext.Candidate{there(0.2, 1)}, 0.03, 0.17},
		{"a dear node: the share", decision.MethodSingleNode, []*searchcontext.Candidate{there(0.8, 1)}, 0.08, 0.72},
		{"a planned node of the group does not count", decision.MethodMultiNode, []*searchcontext.Candidate{there(0.8, 1), with(there(0.4, 1), planned)}, 0.08, 1.12},
		{"planned nodes alone", decision.MethodSingleNode, []*searchcontext.Candidate{with(there(0.4, 1), planned)}, 0, 0.4},
		{"a drifted node", decision.MethodDrift, []*searchcontext.Candidate{there(0.8, 1)}, 0.08, money.USD(money.Unlimited)},
		{"one that expires", decision.MethodMultiNode, []*searchcontext.Candidate{there(0.8, 1), with(there(0.2, 1), due)}, 0.1, money.USD(money.Unlimited)},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := money.USD(terms.Required(c.group)); got != c.required {
				t.Errorf("has to save %g, want %g", got, c.required)
			}
			if got := money.USD(terms.Most(c.method, c.group, searchcontext.PriceOf(c.group))); got != c.most {
				t.Errorf("new nodes may cost %g, want %g", got, c.most)
			}
		})
	}
}

// A saving counts over the pay-back time, or over an hour, and each unit of disruption costs its price.
func TestWorthOf(t *testing.T) {
	for _, c := range []struct {
		payBack time.Duration
		want    float64
	}{{2 * time.Hour, 2*0.1 - 3*0.01}, {0, 0.1 - 3*0.01}} {
		terms := paying.Terms{PayBack: c.payBack, DisruptionPrice: 0.01}
		if got := terms.WorthOf(money.NanoUSD(0.1), 3); got != money.NanoUSD(c.want) {
			t.Errorf("pay-back time %v: worth %g, want %g", c.payBack, money.USD(got), c.want)
		}
	}
}

// launched are new nodes that cost so much.
func launched(prices ...float64) []planning.NewNode {
	out := make([]planning.NewNode, len(prices))
	for i, price := range prices {
		out[i].InstanceTypes = []planning.InstanceTypeOption{{Price: price}}
	}
	return out
}

// An exchange pays if it saves enough, and if the saving pays for the disturbance and for old and new nodes running side by side.
func TestWeigh(t *testing.T) {
	terms := paying.Terms{PayBack: 2 * time.Hour, MinSavingShare: 0.15, DisruptionPrice: 0.01, Launch: 6 * time.Minute}
	slow := func(c *searchcontext.Candidate) { c.Drain = 54 * time.Minute }
	unknown := there(0, 1)
	for _, c := range []struct {
		name   string
		method decision.Method
		group  []*searchcontext.Candidate
		nodes  []planning.NewNode
		code   decision.BlockCode
		saving float64
		value  float64
	}{
		{"a node goes", decision.MethodSingleNode, []*searchcontext.Candidate{there(0.2, 2)}, nil, "", 0.2, 0.4 - 0.02},
		{"a cheaper one comes", decision.MethodSingleNode, []*searchcontext.Candidate{there(0.2, 2)}, launched(0.1), "", 0.1, 0.2 - 0.02 - 0.1*0.1},
		{"it drains slowly: both cost an hour", decision.MethodSingleNode, []*searchcontext.Candidate{with(there(0.2, 2), slow)}, launched(0.1), "", 0.1, 0.2 - 0.02 - 0.1},
		{"too small a saving", decision.MethodSingleNode, []*searchcontext.Candidate{there(0.2, 2)}, launched(0.18), decision.BlockNoGain, 0.02, 0.04 - 0.02 - 0.018},
		{"more disturbance than it pays back", decision.MethodSingleNode, []*searchcontext.Candidate{there(0.2, 30)}, launched(0.1), decision.BlockPayBack, 0.1, 0.2 - 0.3 - 0.01},
		{"a due node may cost more, and its disturbance does not count", decision.MethodSingleNode, []*searchcontext.Candidate{with(there(0.2, 30), due)}, launched(0.3), "", -0.1, -0.2 - 0.3*0.1},
		{"a drifted one likewise", decision.MethodDrift, []*searchcontext.Candidate{there(0.2, 2)}, launched(0.3), "", -0.1, -0.2 - 0.02 - 0.3*0.1},
		{"a node of unknown price goes for nothing", decision.MethodSingleNode, []*searchcontext.Candidate{unknown}, nil, "", 0, -0.01},
		{"but nothing is launched for it", decision.MethodSingleNode, []*searchcontext.Candidate{unknown}, launched(0.1), decision.BlockNoGain, -0.1, -0.2 - 0.01 - 0.01},
		{"a planned node that goes does not run", decision.MethodMultiNode, []*searchcontext.Candidate{there(0.4, 2), with(there(0.2, 5), planned)}, launched(0.3), "", 0.3, 0.6 - 0.02 - 0.1*0.1},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := &paying.Exchange{Method: c.method, Members: c.group, NewNodes: c.nodes}
			why := terms.Weigh(&reference.Pass{Options: &reference.Options{}}, e)
			if got := codeOf(why); got != c.code {
				t.Errorf("blocked by %q, want %q", got, c.code)
			}
			if near := func(a int64, b float64) bool { return max(a-money.NanoUSD(b), money.NanoUSD(b)-a) <= 1 }; !near(e.Saving, c.saving) || !near(e.Value, c.value) {
				t.Errorf("saves %g and is worth %g, want %g and %g", money.USD(e.Saving), money.USD(e.Value), c.saving, c.value)
			}
		})
	}
	t.Run("without a pay-back time, nodes side by side cost nothing", func(t *testing.T) {
		terms := paying.Terms{DisruptionPrice: 0.01, Launch: time.Hour}
		e := &paying.Exchange{Method: decision.MethodSingleNode, Members: []*searchcontext.Candidate{there(0.2, 30)}, NewNodes: launched(0.1)}
		if why := terms.Weigh(&reference.Pass{Options: &reference.Options{}}, e); why != nil || e.Value != money.NanoUSD(0.1-0.3) {
			t.Errorf("worth %g, blocked by %v", money.USD(e.Value), why)
		}
	})
}

func codeOf(why *decision.Block) decision.BlockCode {
	if why == nil {
		return ""
	}
	return why.Code
}

// Pools of the policy Balanced also ask that the pool's saving be in proportion to its disturbance.
func TestWeighAsksBalancedPools(t *testing.T) {
	f := fleettest.New()
	f.Pool.Spec.Disruption.ConsolidationPolicy = v1.ConsolidationPolicyBalanced
	f.Node("cheap", "c2", fleettest.Pods("p", 9, "100m")...)
	f.Node("dear", "c16", fleettest.Pods("q", 1, "100m")...)
	x := f.Context(t)
	pass := fleettest.Pass(t, x.Fleet, reference.Options{})
	for name, want := range map[string]decision.BlockCode{"cheap": decision.BlockScore, "dear": ""} {
		e := &paying.Exchange{Method: decision.MethodSingleNode, Members: fleettest.Candidates(t, x, name)}
		if got := codeOf((&paying.Terms{}).Weigh(pass, e)); got != want {
			t.Errorf("%s is blocked by %q, want %q", name, got, want)
		}
	}
}
