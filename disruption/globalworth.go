package disruption

import (
	"slices"
	"time"
)

// worthOf is what a saving is worth over the time in which it has to pay back, less what the disturbance costs, nano-USD.
func (s *search) worthOf(saving int64, cost float64) int64 {
	return int64(float64(saving)*s.horizon().Hours()) - int64(s.DisruptionPrice*nanoPerUSD*cost)
}

// horizon is the time over which savings count: the pay-back time, an hour without one.
func (s *search) horizon() time.Duration {
	if d := s.payBack(); d > 0 {
		return d
	}
	return time.Hour
}

// valueOf is what the step is worth: what it saves over the horizon, less what the disturbance and the time cost in which
// new nodes run beside the old ones. Nodes that are due cost no disturbance, since they have to go anyway.
func (s *search) valueOf(st *step) int64 {
	cost, drain := 0.0, time.Duration(0)
	for _, u := range st.members {
		if !u.due {
			cost += u.Cost
		}
		drain = max(drain, u.drain)
	}
	overlap := int64(0)
	for i := range st.bins {
		overlap += nanoUSD(st.bins[i].InstanceTypes[0].Price)
	}
	if s.payBack() == 0 {
		overlap = 0
	}
	return s.worthOf(st.saving, cost) - int64(float64(overlap)*(s.launchTime()+drain).Hours())
}

// pays says why a step is not worth it; nil when it is.
func (s *search) pays(st *step, spent int64) *Block {
	if st.method == MethodDrift || slices.ContainsFunc(st.members, func(u *unit) bool { return u.due }) {
		return nil
	}
	required := max(int64(s.share()*float64(spent)), nanoUSD(s.MinSaving))
	if st.saving <= 0 || st.saving < required {
		// Removing what nobody knows the price of saves that price, whatever it is (DIS-136).
		if spent > 0 || len(st.bins) > 0 {
			return &Block{Code: BlockNoGain, Saving: usd(st.saving), Required: usd(required)}
		}
	}
	if s.payBack() > 0 && st.value < 0 && spent > 0 {
		return &Block{Code: BlockPayBack, Saving: usd(st.saving), Required: usd(st.saving - int64(float64(st.value)/s.horizon().Hours()))}
	}
	batch := make([]*Candidate, len(st.members))
	for i, u := range st.members {
		batch[i] = u.Candidate
	}
	return s.pass.balanced(batch, usd(st.saving))
}
