package paying

import (
	"time"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/disruption/decision"
	"github.com/drawknife/drawknife/internal/consolidate/allowedtypes"
	"github.com/drawknife/drawknife/internal/consolidate/money"
	"github.com/drawknife/drawknife/internal/consolidate/reference"
	"github.com/drawknife/drawknife/internal/consolidate/searchcontext"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// Terms are the conditions that a command must meet to be worth it. disruption.Global explains each field. All values are used as given, so
// 0 does not stand for a default.
type Terms struct {
	PayBack                   time.Duration
	MinSaving, MinSavingShare float64
	DisruptionPrice           float64
	// Launch is the time until a new node is ready.
	Launch time.Duration
}

// Exchange has some nodes to remove, and the planned nodes that are launched for their pods.
type Exchange struct {
	Method  decision.Method
	Members []*searchcontext.Candidate
	// NewNodes are the planned nodes. Each node lists only its allowed types.
	NewNodes []planning.NewNode
	// Saving is in nano-USD per hour. Value is the value of the exchange, in nano-USD: see Terms.Weigh.
	Saving, Value int64
}

// group returns the properties of the exchange that decide which types its new nodes may have.
func (e *Exchange) group() allowedtypes.Group {
	g := allowedtypes.Group{Method: e.Method, Spot: true, One: len(e.Members) == 1}
	for _, c := range e.Members {
		g.Spot, g.Due = g.Spot && c.CapacityType == v1.CapacityTypeSpot, g.Due || c.Due
	}
	return g
}

// Required returns the smallest saving for which the group may be removed, in nano-USD per hour. New nodes that are not launched yet may be
// removed for any saving, because this disturbs no pod.
func (t *Terms) Required(group []*searchcontext.Candidate) int64 {
	there := searchcontext.Existing(group)
	if len(there) == 0 {
		return 0
	}
	return max(int64(t.MinSavingShare*float64(searchcontext.PriceOf(there))), money.NanoUSD(t.MinSaving))
}

// Most returns the maximum cost of new nodes for the group, in nano-USD per hour. spent is the group's present cost.
func (t *Terms) Most(method decision.Method, group []*searchcontext.Candidate, spent int64) int64 {
	if method == decision.MethodDrift || searchcontext.AnyDue(group) {
		return money.Unlimited
	}
	return spent - t.Required(group)
}

// WorthOf returns the value of a saving over the pay-back time, minus the cost of the disturbance, in nano-USD.
func (t *Terms) WorthOf(saving int64, cost float64) int64 {
	return int64(float64(saving)*t.horizon().Hours()) - int64(t.DisruptionPrice*money.NanoPerUSD*cost)
}

// horizon returns the time over which savings count: the pay-back time, or an hour if no pay-back time is set.
func (t *Terms) horizon() time.Duration {
	if d := t.PayBack; d > 0 {
		return d
	}
	return time.Hour
}

// Narrow sets e.NewNodes to the planned nodes, with only the types for which the exchange is worth it. If a node has no such type, it
// returns the block. Lists of types have at most limit entries. If strict is true, the permitted cost is always divided among the new nodes
// in proportion to their prices.
func (t *Terms) Narrow(f *allowedtypes.Finder, e *Exchange, planned []planning.NewNode, limit int, strict bool) (why *decision.Block) {
	spent := searchcontext.PriceOf(e.Members)
	e.NewNodes, why = f.Narrow(e.group(), planned, allowedtypes.Money{Spent: spent, Most: t.Most(e.Method, e.Members, spent)}, limit, strict)
	return why
}

// Weigh sets the saving and the value of the exchange. It returns the block if the exchange is not worth it, and otherwise nil.
func (t *Terms) Weigh(p *reference.Pass, e *Exchange) *decision.Block {
	e.Saving = searchcontext.PriceOf(e.Members)
	for i := range e.NewNodes {
		e.Saving -= money.NanoUSD(e.NewNodes[i].InstanceTypes[0].Price)
	}
	e.Value = t.value(e)
	return t.pays(p, e)
}

// value returns the value of the exchange: its saving over the horizon, minus the cost of the disturbance. If a pay-back time is set, the
// method also subtracts the cost of the time in which old and new nodes run together. The disturbance of due nodes costs nothing, because
// they must be removed anyway.
func (t *Terms) value(e *Exchange) int64 {
	cost, drain := 0.0, time.Duration(0)
	overlap := int64(0)
	for _, c := range e.Members {
		if c.Planned {
			overlap -= c.NanoPrice
			continue
		}
		if !c.Due {
			cost += c.Cost
		}
		drain = max(drain, c.Drain)
	}
	for i := range e.NewNodes {
		overlap += money.NanoUSD(e.NewNodes[i].InstanceTypes[0].Price)
	}
	if t.PayBack == 0 {
		overlap = 0
	}
	return t.WorthOf(e.Saving, cost) - int64(float64(max(overlap, 0))*(t.Launch+drain).Hours())
}

// pays returns nil if the exchange is worth it. If not, it returns the block. Drift and exchanges with due nodes are always worth it. The
// pass p checks the condition of pools with the policy Balanced.
func (t *Terms) pays(p *reference.Pass, e *Exchange) *decision.Block {
	if e.Method == decision.MethodDrift || searchcontext.AnyDue(e.Members) {
		return nil
	}
	there, spent, required := searchcontext.Existing(e.Members), searchcontext.PriceOf(e.Members), t.Required(e.Members)
	if e.Saving <= 0 || e.Saving < required {
		// If no removed node has a known price and no new node is launched, the saving is unknown, and the exchange needs no saving.
		if spent > 0 || len(e.NewNodes) > 0 {
			return &decision.Block{Code: decision.BlockNoGain, Saving: money.USD(e.Saving), Required: money.USD(required)}
		}
	}
	if t.PayBack > 0 && e.Value < 0 && spent > 0 {
		return &decision.Block{Code: decision.BlockPayBack, Saving: money.USD(e.Saving), Required: money.USD(e.Saving - int64(float64(e.Value)/t.horizon().Hours()))}
	}
	if len(there) == 0 {
		return nil
	}
	return p.Balanced(searchcontext.Surveyed(there), money.USD(e.Saving))
}
