package global

import (
	"github.com/drawknife/drawknife/disruption/decision"
	"github.com/drawknife/drawknife/internal/consolidate/money"
	"slices"
	"time"
)

// standing are the units that are there, not planned.
func standing(group []*unit) []*unit {
	if !slices.ContainsFunc(group, func(u *unit) bool { return u.planned != nil }) {
		return group
	}
	return slices.DeleteFunc(slices.Clone(group), func(u *unit) bool { return u.planned != nil })
}

func candidates(group []*unit) []*decision.Candidate {
	out := make([]*decision.Candidate, len(group))
	for i, u := range group {
		out[i] = u.Candidate
	}
	return out
}

func priceOf(group []*unit) int64 {
	sum := int64(0)
	for _, u := range group {
		sum += u.price
	}
	return sum
}

// required is what removing the group has to save at least, nano-USD per hour. New nodes that are not launched yet are given
// up for any saving: nobody is disturbed.
func (g *ground) required(group []*unit) int64 {
	there := standing(group)
	if len(there) == 0 {
		return 0
	}
	return max(int64(g.MinSavingShare*float64(priceOf(there))), money.NanoUSD(g.MinSaving))
}

// worthOf is what a saving is worth over the time in which it has to pay back, less what the disturbance costs, nano-USD.
func (g *ground) worthOf(saving int64, cost float64) int64 {
	return int64(float64(saving)*g.horizon().Hours()) - int64(g.DisruptionPrice*money.NanoPerUSD*cost)
}

// horizon is the time over which savings count: the pay-back time, an hour without one.
func (g *ground) horizon() time.Duration {
	if d := g.PayBack; d > 0 {
		return d
	}
	return time.Hour
}

// valueOf is what the step is worth: what it saves over the horizon, less what the disturbance and the time cost in which
// new nodes run alongside the old ones. Nodes that are due cost no disturbance, since they have to go anyway.
func (g *ground) valueOf(st *step) int64 {
	cost, drain := 0.0, time.Duration(0)
	overlap := int64(0)
	for _, u := range st.members {
		if u.planned != nil {
			overlap -= u.price
			continue
		}
		if !u.due {
			cost += u.Cost
		}
		drain = max(drain, u.drain)
	}
	for i := range st.bins {
		overlap += money.NanoUSD(st.bins[i].InstanceTypes[0].Price)
	}
	if g.PayBack == 0 {
		overlap = 0
	}
	return g.worthOf(st.saving, cost) - int64(float64(max(overlap, 0))*(g.LaunchTime+drain).Hours())
}

// pays says why a step is not worth it; nil when it is. The pass knows what pools ask for besides that.
func (g *ground) pays(p *pass, st *step) *decision.Block {
	if st.method == decision.MethodDrift || slices.ContainsFunc(st.members, func(u *unit) bool { return u.due }) {
		return nil
	}
	there, spent, required := standing(st.members), priceOf(st.members), g.required(st.members)
	if st.saving <= 0 || st.saving < required {
		// Removing what nobody knows the price of saves that price, whatever it is.
		if spent > 0 || len(st.bins) > 0 {
			return &decision.Block{Code: decision.BlockNoGain, Saving: money.USD(st.saving), Required: money.USD(required)}
		}
	}
	if g.PayBack > 0 && st.value < 0 && spent > 0 {
		return &decision.Block{Code: decision.BlockPayBack, Saving: money.USD(st.saving), Required: money.USD(st.saving - int64(float64(st.value)/g.horizon().Hours()))}
	}
	if len(there) == 0 {
		return nil
	}
	return p.Balanced(candidates(there), money.USD(st.saving))
}
