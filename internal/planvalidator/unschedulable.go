package planvalidator

import (
	"github.com/drawknife/drawknife/scheduling"
)

// unschedulable checks that a pod without a place is explained for each pool, and that no place exists for it.
func (c *checker) unschedulable() {
	w := c.replayed()
	if w == nil {
		return // the positions of the pods are unknown
	}
	for i := range c.p.Unschedulable {
		u := &c.p.Unschedulable[i]
		pod := c.pods[u.Pod]
		if pod == nil {
			continue
		}
		if c.explained(u) && !ofGang(u) {
			c.nowhere(w, u.Pod.String(), c.withinGang(u.Pod, pod))
		}
	}
}

// explained checks the reasons and reports whether they concern pools rather than the pod.
func (c *checker) explained(u *scheduling.Unschedulable) bool {
	where := u.Pod.String()
	if len(u.Reasons) == 0 {
		c.fault(where, "has neither a place nor a reason")
		return false
	}
	for _, r := range u.Reasons {
		if r.Code == "" || r.String() == "" {
			c.fault(where, "has an empty reason: %+v", r)
		}
	}
	if u.Reasons[0].Pool.IsZero() {
		if first := u.Reasons[0].Code; first == scheduling.ReasonSpotLimits || first == scheduling.ReasonReservationEnds {
			rest := *u
			rest.Reasons = u.Reasons[1:]
			return c.explained(&rest)
		}
		if len(u.Reasons) != 1 {
			c.fault(where, "the reason is not about a pool, but has others beside it")
		}
		return u.Reasons[0].Code != scheduling.ReasonPodInvalid
	}
	for key := range c.pools {
		n := 0
		for _, r := range u.Reasons {
			if r.Pool == key {
				n++
			}
		}
		if n == 0 {
			c.fault(where, "pool %s gives no reason", key)
		}
	}
	return true
}
