package planvalidator

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/scheduling"
)

// nowhere checks that the pod really has no place while all other pods stay as planned. The pod has a place if a node of the snapshot has
// room for it, if a planned node has room for it as another instance type, or if a pool could launch one more node for it.
func (c *checker) nowhere(w *world, where string, pod *corev1.Pod) {
	if _, known := c.volumesOf(pod); !known {
		return
	}
	for _, m := range w.nodes {
		if !m.isNew && w.refuses(m, pod) == "" {
			c.fault(where, "has no place, but node %s has room for it", m.name)
			return
		}
	}
	for i := range c.p.NewNodes {
		n := &c.p.NewNodes[i]
		if c.pools[n.Pool] != nil && c.offers(w, pod, n, n.Pool, func(what string) {
			c.fault(where, "has no place, but could join %s as %s", n.Name, what)
		}) {
			return
		}
	}
	for key := range c.pools {
		if c.offers(w, pod, nil, key, func(what string) {
			c.fault(where, "has no place, but pool %s could launch a %s for it", key, what)
		}) {
			return
		}
	}
}

// offers searches for a node that the pool can launch and that can hold the pod. The node replaces the planned node n and must also hold
// the pods of n. If n is nil, the node is an additional node. If offers finds a node, it calls the function found with a description of the
// node, and returns true.
func (c *checker) offers(w *world, pod *corev1.Pod, n *scheduling.NewNode, key v1.PoolKey, found func(what string)) bool {
	np := c.pools[key]
	if blocking(&pod.Spec, np.Object.Spec.Template.Spec.Taints) != nil {
		return false
	}
	claim := c.template(np, key)
	if n != nil {
		claim = c.claim(n, np)
	}
	for _, it := range c.typesOf(np) {
		for j := range it.Offerings {
			o := &it.Offerings[j]
			if !o.Available || !c.affordable(key, n, it, o) || !c.reservable(w, n, np, it, o) {
				continue
			}
			for _, all := range c.demands(pod, np) {
				if !c.buys(w, pod, n, np, it, o, demand{claim, all}) {
					continue
				}
				found(it.Name + "/" + o.Zone() + "/" + o.CapacityType())
				return true
			}
		}
	}
	return false
}

// demand has the requirements of a NodeClaim, and the requirements of one more pod.
type demand struct {
	claim labels
	all   []expression
}

// on returns the known labels of a node that meets the demand and is launched with this type and offering. It returns false if such a node
// can't exist.
func (d demand) on(c *checker, it *cloudprovider.InstanceType, o *cloudprovider.Offering) (labels, bool) {
	known, ok := c.nodeLabels(d.claim, it, o)
	if !ok {
		return nil, false
	}
	for _, e := range d.all {
		known[e.key] = append(slices.Clone(known.get(e.key)), e.rule)
		if !known[e.key].possible() {
			return nil, false
		}
	}
	return known, true
}

// demands returns the alternatives of a pod's node selection for a new node of the pool, with and without the pod's preferences. Each
// alternative is combined with each alternative of the pod's volumes.
func (c *checker) demands(pod *corev1.Pod, np *scheduling.NodePool) [][]expression {
	out := c.wished(pod, np, c.alternatives(&pod.Spec))
	volumes, _ := c.volumesOf(pod)
	for _, v := range volumes {
		if v.onNew == nil {
			continue
		}
		var both [][]expression
		for _, a := range out {
			for _, b := range v.onNew {
				both = append(both, slices.Concat(a, b))
			}
		}
		out = both
	}
	return out
}

// buys reports whether a node with this claim, type and offering can hold the pod and the pods of n, while the rest of the plan can still
// be bound.
func (c *checker) buys(w *world, pod *corev1.Pod, n *scheduling.NewNode, np *scheduling.NodePool, it *cloudprovider.InstanceType, o *cloudprovider.Offering, d demand) bool {
	known, ok := d.on(c, it, o)
	if !ok {
		return false
	}
	name := "one-more"
	var others []*corev1.Pod
	if n != nil {
		name = n.Name
		for _, key := range n.Pods {
			others = append(others, c.pods[key])
		}
	}
	for _, decided := range c.decisions(known) {
		m := c.assumed(c.launched(name, np, it, o, decided), np, it, o)
		for _, x := range others {
			m.put(x)
		}
		if w.with(m).refuses(m, pod) != "" || !c.varied(np, d, m, o, append(slices.Clone(others), pod)) {
			continue
		}
		fresh := c.assumed(c.launched(name, np, it, o, decided), np, it, o)
		after := c.empty().with(fresh)
		if _, why := after.replay(c.p); why == "" && after.refuses(fresh, pod) == "" {
			return true
		}
	}
	return false
}

// decisions returns one copy of the labels for each combination of values of the open labels. A label is open if rules between pods use it
// and its value is not known. The values come from spokenOf.
func (c *checker) decisions(known labels) []labels {
	out := []labels{known}
	for key := range c.topologyKeys() {
		l, ok := known[key]
		if !ok || l.only() != "" {
			continue
		}
		var next []labels
		for _, have := range out {
			for _, v := range c.spokenOf(key, l) {
				if l.allows(v, true) {
					one := maps.Clone(have)
					one.and(key, isValue(v))
					next = append(next, one)
				}
			}
		}
		if len(next) > 0 {
			out = next // if no value is allowed, the node lacks the label
		}
	}
	return out
}

// spokenOf returns the values of the label that its rules list, and the values that nodes of the snapshot have. It adds "0" as a value that
// no rule or node has. If both a pod and the pool require the label and leave its value open, spokenOf also adds "1" as a second such
// value.
func (c *checker) spokenOf(key string, l label) []string {
	out, open := []string{"0"}, 0
	for _, r := range l {
		out = append(out, r.values...)
		if r.op == corev1.NodeSelectorOpExists || r.op == corev1.NodeSelectorOpNotIn {
			open++
		}
	}
	if open > 1 {
		out = append(out, "1")
	}
	for i := range c.s.Nodes {
		if v := c.view(&c.s.Nodes[i]).labels.get(key).only(); v != "" {
			out = append(out, v)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// topologyKeys returns the topology keys of all rules between pods, except the label kubernetes.io/hostname.
func (c *checker) topologyKeys() map[string]bool {
	out := map[string]bool{}
	for _, pod := range c.pods {
		for _, s := range pod.Spec.TopologySpreadConstraints {
			key, _ := c.canonical(s.TopologyKey)
			out[key] = true
		}
		if a := pod.Spec.Affinity; a != nil && a.PodAffinity != nil {
			for _, t := range a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution {
				key, _ := c.canonical(t.TopologyKey)
				out[key] = true
			}
		}
		for _, t := range antiTerms(pod) {
			key, _ := c.canonical(t.TopologyKey)
			out[key] = true
		}
	}
	delete(out, corev1.LabelHostname)
	return out
}

// noticedKeys returns the labels of the node that rules between pods may use if the pods are on the node. These are the keys of all spread
// constraints, because a constraint may count the node's domain even if the domain has no pods. The key of another rule is included only if
// a pod on the node has the rule or is selected by it. The zone is included if pods on the node share a volume that does not exist yet.
func (c *checker) noticedKeys(m *node, pods []*corev1.Pod) map[string]bool {
	on := slices.Concat(m.pods, pods)
	out := map[string]bool{}
	note := func(owner *corev1.Pod, terms []corev1.PodAffinityTerm) {
		for _, t := range terms {
			if slices.Contains(on, owner) || slices.ContainsFunc(on, c.picksOf(&t, owner).has) {
				key, _ := c.canonical(t.TopologyKey)
				out[key] = true
			}
		}
	}
	each := func(pod *corev1.Pod) {
		for _, s := range pod.Spec.TopologySpreadConstraints {
			if s.WhenUnsatisfiable == corev1.ScheduleAnyway {
				continue // a preference never keeps a pod pending
			}
			key, _ := c.canonical(s.TopologyKey)
			out[key] = true
		}
		if a := pod.Spec.Affinity; a != nil && a.PodAffinity != nil {
			note(pod, a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution)
		}
		note(pod, antiTerms(pod))
	}
	for _, pod := range slices.Concat(c.s.Pods, c.s.Placeholders, c.sets) {
		each(pod)
	}
	for i := range c.s.Nodes {
		for _, pod := range c.s.Nodes[i].Pods {
			note(pod, antiTerms(pod))
		}
	}
	if slices.ContainsFunc(on, c.sharesUnmade) {
		out[corev1.LabelTopologyZone] = true
	}
	return out
}

// unschedulable checks the pods without a place. For each of them, the plan must give a reason for each pool, and the pod must really have
// no place.
func (c *checker) unschedulable() {
	w := c.replayed()
	if w == nil {
		return // the places of the other pods are not known
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

// explained checks the reasons of a pod without a place. It returns false if there is no reason, or if the pod itself is invalid.
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
			c.fault(where, "the reason is not about a pool, but has others in addition")
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
