package planvalidator

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/scheduling"
	"github.com/drawknife/drawknife/scheduling/spotlimits"
)

// spotPool is a spot pool: an instance type in a zone.
type spotPool struct{ instanceType, zone string }

// onSpot has three counts for a workload: all of its pods, its pods that are or could be on spot nodes, and its pods in each spot pool. A
// pod on a node that may be launched as one of several types counts in all spot pools of the node.
type onSpot struct {
	pods, spot int
	pools      map[spotPool]int
}

// spotLimits checks that the plan does not make the number of a workload's pods on spot nodes larger than the workload's limits allow. A
// workload that exceeded its limits before the plan must not get more pods on spot nodes.
func (c *checker) spotLimits() {
	was, limits := countOnSpot(c.s)
	if len(limits) == 0 {
		return
	}
	c.holdSpotLimits(was, limits)
	c.spotPrices(limits)
}

// SpotLimits checks a plan that moves pods. It returns a fault for each workload whose number of pods on spot nodes after the plan is
// larger than its limits allow and also larger than before the plan. In the snapshot after, the pods to move are pending.
func SpotLimits(before, after *scheduling.Snapshot, p *scheduling.Plan) []Fault {
	was, limits := countOnSpot(before)
	c := newChecker(after, p)
	c.holdSpotLimits(was, limits)
	return c.faults
}

// countOnSpot counts the pods of each workload, and combines the limits that the pods of a workload state.
func countOnSpot(s *scheduling.Snapshot) (map[spotlimits.Workload]*onSpot, map[spotlimits.Workload]spotlimits.Limits) {
	count, limits := map[spotlimits.Workload]*onSpot{}, map[spotlimits.Workload]spotlimits.Limits{}
	eachCounted(s, func(pod *corev1.Pod, node *scheduling.Node) {
		key := spotlimits.WorkloadOf(pod)
		if l, err := spotlimits.Read(pod); err == nil && !l.IsZero() {
			limits[key] = limits[key].Stricter(l)
		}
		if count[key] == nil {
			count[key] = &onSpot{pools: map[spotPool]int{}}
		}
		count[key].pods++
		if node != nil {
			count[key].add(poolsOfNode(node))
		}
	})
	return count, limits
}

// holdSpotLimits checks the numbers of pods on spot nodes after the plan. A number may be larger than its limit only if it was at least as
// large before the plan.
func (c *checker) holdSpotLimits(was map[spotlimits.Workload]*onSpot, limits map[spotlimits.Workload]spotlimits.Limits) {
	after, _ := countOnSpot(c.s)
	place := func(list []scheduling.PodKey, pools []spotPool) {
		for _, key := range list {
			if pod := c.pods[key]; pod != nil && after[spotlimits.WorkloadOf(pod)] != nil {
				after[spotlimits.WorkloadOf(pod)].add(pools)
			}
		}
	}
	for i := range c.p.Existing {
		if n := c.nodes[c.p.Existing[i].Name]; n != nil {
			place(c.p.Existing[i].Pods, poolsOfNode(n))
		}
	}
	for i := range c.p.NewNodes {
		place(c.p.NewNodes[i].Pods, c.poolsOfNew(&c.p.NewNodes[i]))
	}
	for key, l := range limits {
		is := after[key]
		if most := max(l.MostOnSpot(is.pods), was[key].spot); is.spot > most {
			c.fault(key.String(), "has %d of %d pods on spot, at most %d may be (%s)", is.spot, is.pods, most, l)
		}
		for pool, n := range is.pools {
			if most := max(l.MostOnPool(is.pods), was[key].pools[pool]); l.MaxPoolShare != nil && n > most {
				c.fault(key.String(), "has %d of %d pods on %v, at most %d may be (%s)", n, is.pods, pool, most, l)
			}
		}
	}
}

// add counts a pod on a spot node of one of these spot pools. If pools is empty, the pod is not on a spot node.
func (s *onSpot) add(pools []spotPool) {
	if len(pools) > 0 {
		s.spot++
	}
	for _, pool := range pools {
		s.pools[pool]++
	}
}

// eachCounted calls f for the pods to which limits apply, with the pod's node, or nil for a pending pod.
func eachCounted(s *scheduling.Snapshot, f func(pod *corev1.Pod, node *scheduling.Node)) {
	for _, pod := range s.Pods {
		if pod.DeletionTimestamp == nil {
			f(pod, nil)
		}
	}
	for i := range s.Nodes {
		for _, pod := range s.Nodes[i].Pods {
			daemon := slices.ContainsFunc(pod.OwnerReferences, func(o metav1.OwnerReference) bool { return o.Kind == "DaemonSet" || o.Kind == "Node" })
			if pod.DeletionTimestamp == nil && !daemon && pod.Status.Phase != corev1.PodSucceeded && pod.Status.Phase != corev1.PodFailed {
				f(pod, &s.Nodes[i])
			}
		}
	}
}

// poolsOfNode returns the spot pool of the node, or nil if the node is not a spot node.
func poolsOfNode(n *scheduling.Node) []spotPool {
	label := func(key string) string {
		if n.Object != nil && n.Object.Labels[key] != "" {
			return n.Object.Labels[key]
		}
		if n.Claim != nil {
			return n.Claim.Labels[key]
		}
		return ""
	}
	if label(v1.CapacityTypeLabelKey) != v1.CapacityTypeSpot {
		return nil
	}
	return []spotPool{{label(corev1.LabelInstanceTypeStable), label(corev1.LabelTopologyZone)}}
}

// poolsOfNew returns the spot pools that a new node may be launched in.
func (c *checker) poolsOfNew(n *scheduling.NewNode) []spotPool {
	var out []spotPool
	pool := c.pools[n.Pool]
	if pool == nil {
		return nil
	}
	allows := func(key, value string) bool { return !n.Requirements.Has(key) || n.Requirements.Get(key).Has(value) }
	for _, it := range c.s.Catalogs[pool.Catalog] {
		if !slices.ContainsFunc(n.InstanceTypes, func(o scheduling.InstanceTypeOption) bool { return o.Name == it.Name }) {
			continue
		}
		for i := range it.Offerings {
			o := &it.Offerings[i]
			if at := (spotPool{it.Name, o.Zone()}); o.CapacityType() == v1.CapacityTypeSpot && allows(v1.CapacityTypeLabelKey, v1.CapacityTypeSpot) &&
				allows(corev1.LabelTopologyZone, o.Zone()) && allows(corev1.LabelInstanceTypeStable, it.Name) && !slices.Contains(out, at) {
				out = append(out, at)
			}
		}
	}
	return out
}

// spotPrices checks that new spot nodes cost no more than the MaxPrice of their pods allows.
func (c *checker) spotPrices(limits map[spotlimits.Workload]spotlimits.Limits) {
	for i := range c.p.NewNodes {
		n := &c.p.NewNodes[i]
		for _, key := range n.Pods {
			pod := c.pods[key]
			if pod == nil || limits[spotlimits.WorkloadOf(pod)].MaxPrice == nil {
				continue
			}
			most := *limits[spotlimits.WorkloadOf(pod)].MaxPrice
			for _, pool := range c.poolsOfNew(n) {
				if share := c.priceShare(c.pools[n.Pool].Catalog, pool); share > most*(1+1e-9) {
					c.fault(key.String(), "may come on %v at %.3f of the price on demand, at most %.3f is allowed", pool, share, most)
				}
			}
		}
	}
}

// priceShare returns the highest spot price in the spot pool, divided by the on-demand price of the type in the zone. It returns 2 if the
// type has no on-demand offering in the zone.
func (c *checker) priceShare(catalog string, pool spotPool) float64 {
	for _, it := range c.s.Catalogs[catalog] {
		if it.Name != pool.instanceType {
			continue
		}
		spot, base := 0.0, 0.0
		for i := range it.Offerings {
			o := &it.Offerings[i]
			switch {
			case o.Zone() != pool.zone:
			case o.CapacityType() == v1.CapacityTypeSpot && o.Available:
				spot = max(spot, o.Price)
			case o.CapacityType() == v1.CapacityTypeOnDemand && (base == 0 || o.Price < base):
				base = o.Price
			}
		}
		if base > 0 {
			return spot / base
		}
	}
	return 2
}

// withSpotSplits returns the snapshot, in which pods have additional requirements: they must be on the nodes to which the plan's splits
// restrict them. It also returns a map from each changed copy of a pod to the given pod.
func withSpotSplits(s *scheduling.Snapshot, p *scheduling.Plan) (*scheduling.Snapshot, map[*corev1.Pod]*corev1.Pod) {
	itself := map[*corev1.Pod]*corev1.Pod{}
	asks := map[scheduling.PodKey][]corev1.NodeSelectorTerm{}
	off := []corev1.NodeSelectorTerm{
		allOf(asked(v1.CapacityTypeLabelKey, corev1.NodeSelectorOpExists), asked(v1.CapacityTypeLabelKey, corev1.NodeSelectorOpNotIn, "spot")),
		allOf(asked(v1.CapacityTypeLabelKey, corev1.NodeSelectorOpDoesNotExist), asked(v1.NodePoolLabelKey, corev1.NodeSelectorOpDoesNotExist)),
	}
	for i := range p.SpotSplits {
		split := &p.SpotSplits[i]
		for _, key := range split.OffSpot {
			asks[key] = off
		}
		for _, part := range split.Parts {
			if part.Any {
				continue
			}
			terms := append([]corev1.NodeSelectorTerm(nil), off...)
			for _, pools := range part.Pools {
				terms = append(terms, allOf(asked(v1.CapacityTypeLabelKey, corev1.NodeSelectorOpIn, "spot"), asked(corev1.LabelTopologyZone, corev1.NodeSelectorOpIn, pools.Zone),
					asked(corev1.LabelInstanceTypeStable, corev1.NodeSelectorOpIn, pools.InstanceTypes...)))
			}
			for _, key := range part.Pods {
				asks[key] = terms
			}
		}
	}
	if len(asks) == 0 {
		return s, itself
	}
	out := *s
	out.Pods = nil
	for _, pod := range s.Pods {
		if terms := asks[scheduling.PodKey{Namespace: pod.Namespace, Name: pod.Name}]; terms != nil {
			copied := pod.DeepCopy()
			require(&copied.Spec, terms)
			itself[copied] = pod
			pod = copied
		}
		out.Pods = append(out.Pods, pod)
	}
	return &out, itself
}

// allOf returns a node selector term that requires all expressions.
func allOf(expressions ...corev1.NodeSelectorRequirement) corev1.NodeSelectorTerm {
	return corev1.NodeSelectorTerm{MatchExpressions: expressions}
}

func asked(key string, op corev1.NodeSelectorOperator, values ...string) corev1.NodeSelectorRequirement {
	return corev1.NodeSelectorRequirement{Key: key, Operator: op, Values: values}
}

// require combines each alternative of the pod's node affinity with each of the given alternatives.
func require(spec *corev1.PodSpec, alternatives []corev1.NodeSelectorTerm) {
	if spec.Affinity == nil {
		spec.Affinity = &corev1.Affinity{}
	}
	if spec.Affinity.NodeAffinity == nil {
		spec.Affinity.NodeAffinity = &corev1.NodeAffinity{}
	}
	own := spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	if own == nil {
		own = &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{}}}
	} else {
		own.NodeSelectorTerms = slices.DeleteFunc(own.NodeSelectorTerms, func(t corev1.NodeSelectorTerm) bool { return len(t.MatchExpressions)+len(t.MatchFields) == 0 })
	}
	both := &corev1.NodeSelector{}
	for _, a := range own.NodeSelectorTerms {
		for _, b := range alternatives {
			both.NodeSelectorTerms = append(both.NodeSelectorTerms, corev1.NodeSelectorTerm{
				MatchFields: a.MatchFields, MatchExpressions: slices.Concat(a.MatchExpressions, b.MatchExpressions),
			})
		}
	}
	spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution = both
}
