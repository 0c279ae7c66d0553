package planvalidator

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/scheduling"
)

// unschedulable: a pod without a place is explained for each pool, and there really is no place for it.
func (c *checker) unschedulable() {
	for i := range c.p.Unschedulable {
		u := &c.p.Unschedulable[i]
		pod := c.pods[u.Pod]
		if pod == nil {
			continue
		}
		if c.explained(u) {
			c.nowhere(u.Pod.String(), pod)
		}
	}
}

// explained checks the reasons and reports whether they are about pools rather than the pod.
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

// nowhere: no machine of the snapshot has room for the pod after the plan, and no pool could launch one for it alone.
func (c *checker) nowhere(where string, pod *corev1.Pod) {
	need := requestsOf(pod)
	for i := range c.s.Nodes {
		n := &c.s.Nodes[i]
		if n.Leaving {
			continue
		}
		v := c.view(n)
		free := c.freeOn(n, v)
		for _, q := range free {
			if q.Sign() < 0 {
				free = nil
				break
			}
		}
		for j := range c.p.Existing {
			if c.p.Existing[j].Name == n.Name && free != nil {
				for _, key := range c.p.Existing[j].Pods {
					if other := c.pods[key]; other != nil {
						minus(free, requestsOf(other))
					}
				}
			}
		}
		if free != nil && blocking(&pod.Spec, v.taints) == nil && c.accepts(v.labels, &pod.Spec) && lack(need, free) == "" {
			c.fault(where, "has no place, but machine %s has room for it", n.Name)
		}
	}
	for key, np := range c.pools {
		if blocking(&pod.Spec, np.Object.Spec.Template.Spec.Taints) != nil {
			continue
		}
		for _, it := range c.typesOf(np) {
			for j := range it.Offerings {
				if o := &it.Offerings[j]; o.Available && c.wouldHold(key, np, it, o, pod) {
					c.fault(where, "has no place, but pool %s could launch a %s/%s/%s for it", key, it.Name, o.Zone(), o.CapacityType())
					return
				}
			}
		}
	}
}

// wouldHold reports whether the pool could launch the machine for the pod: some decision about the labels that are left
// open meets one of its alternatives, and it fits beside the DaemonSets.
func (c *checker) wouldHold(key v1.PoolKey, np *scheduling.NodePool, it *cloudprovider.InstanceType, o *cloudprovider.Offering, pod *corev1.Pod) bool {
	m, ok := c.machineLabels(c.template(np, key), it, o)
	if !ok {
		return false
	}
	sure := slices.ContainsFunc(c.alternatives(&pod.Spec), func(all []expression) bool {
		joined := maps.Clone(m)
		for _, e := range all {
			joined[e.key] = append(slices.Clone(joined.get(e.key)), e.rule)
		}
		for _, l := range joined {
			if !l.possible() {
				return false
			}
		}
		return true
	})
	if !sure {
		return false
	}
	need := requestsOf(pod)
	plus(need, c.daemonsOn(m, np.Object.Spec.Template.Spec.Taints))
	return lack(need, room(it, o)) == "" && c.affordable(key, np, it, o)
}
