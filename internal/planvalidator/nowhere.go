package planvalidator

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/scheduling"
)

// nowhere checks that, with everything else as planned, no node of the snapshot can take the pod, no planned node can take it by becoming
// another type, and no pool could launch one more node for it.
func (c *checker) nowhere(w *world, where string, pod *corev1.Pod) {
	if _, known := c.volumesOf(pod); !known {
		return
	}
	for _, m := range w.machines {
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

// offers searches for a node of the pool that takes the pod: in place of n, with the pods of n, or in addition to all others if n is nil.
// It calls found for the first and reports whether there is one.
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

// demand is a claim with the requirements of one more pod.
type demand struct {
	claim labels
	all   []expression
}

// on returns the known labels of the node for the demand, the type and the offering. It returns false if they exclude each other.
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

// demands returns the pod's alternative requirements for a new node of the pool: those with and without its preferences, each combined with
// the alternatives of its volumes.
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

// buys reports whether the node of the claim, the type and the offering takes the pod in addition to those of n, both by itself and such
// that the rest of the plan can still be bound.
func (c *checker) buys(w *world, pod *corev1.Pod, n *scheduling.NewNode, np *scheduling.NodePool, it *cloudprovider.InstanceType, o *cloudprovider.Offering, d demand) bool {
	known, ok := d.on(c, it, o)
	if !ok {
		return false
	}
	name := "one-more"
	var beside []*corev1.Pod
	if n != nil {
		name = n.Name
		for _, key := range n.Pods {
			beside = append(beside, c.pods[key])
		}
	}
	for _, decided := range c.decisions(known) {
		m := c.assumed(c.launched(name, np, it, o, decided), np, it, o)
		for _, x := range beside {
			m.put(x)
		}
		if w.with(m).refuses(m, pod) != "" || !c.varied(np, d, m, o, append(slices.Clone(beside), pod)) {
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

// decisions returns the possible values for labels that are open and that rules between pods use: each value that is mentioned somewhere.
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
			out = next // otherwise the label is absent
		}
	}
	return out
}

// spokenOf returns the values of the label that rules list and that nodes of the snapshot have. It also returns the number of further
// values to distinguish, for a label of which nothing else is known. If both a pod and the pool require the label without fixing its value,
// this counts as one value. A value that no pod requires counts as another.
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

// topologyKeys returns the topology keys of all pods' rules.
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

// noticedKeys returns the labels of the node that rules between pods may use while the pods are on it. A spread may count a domain even if
// the domain has no pods; other rules concern the pods that have them and the pods that they select. For pods that share a volume which
// does not exist yet, the zone must be known.
func (c *checker) noticedKeys(m *machine, pods []*corev1.Pod) map[string]bool {
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
				continue // a preference costs no pod its place
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

// sharesUnmade reports whether another pod uses a volume of the pod that does not exist yet.
func (c *checker) sharesUnmade(pod *corev1.Pod) bool {
	volumes, _ := c.volumesOf(pod)
	return slices.ContainsFunc(volumes, func(v attached) bool {
		if !v.unmade {
			return false
		}
		users := 0
		use := func(x *corev1.Pod) {
			list, _ := c.volumesOf(x)
			if slices.ContainsFunc(list, func(o attached) bool { return o.driver == v.driver && o.id == v.id }) {
				users++
			}
		}
		for _, x := range slices.Concat(c.s.Pods, c.s.Placeholders) {
			use(x)
		}
		for i := range c.s.Nodes {
			for _, x := range c.s.Nodes[i].Pods {
				use(x)
			}
		}
		return users > 1
	})
}

// affordable reports whether the pool's limits allow the node, in addition to all others or in place of n.
func (c *checker) affordable(key v1.PoolKey, n *scheduling.NewNode, it *cloudprovider.InstanceType, o *cloudprovider.Offering) bool {
	after, standing := c.afterwards(key), c.used(key)
	for name, limit := range c.pools[key].Object.Spec.Limits {
		if q := after[name]; n == nil && q.Cmp(limit) > 0 {
			return false // a pool above a limit gets no nodes
		}
		if q := standing[name]; n == nil && key.Generation == v1.GenerationV1Alpha5 && q.Sign() > 0 && q.Cmp(limit) >= 0 {
			return false // neither does a v1alpha5 pool that has reached it
		}
	}
	next := capacity(it, o)
	next["nodes"] = *resource.NewQuantity(1, resource.DecimalSI)
	var had corev1.ResourceList
	if n != nil {
		had = c.most(n)
		minus(after, had)
	}
	plus(after, next)
	for name, limit := range c.pools[key].Object.Spec.Limits {
		q, more, have := after[name], next[name], had[name]
		if q.Cmp(limit) > 0 && (n == nil || more.Cmp(have) > 0) {
			return false
		}
	}
	return true
}

// reservable reports whether the offering is not reserved, or its reservation has instances left. A node planned for a reservation keeps
// it, and other nodes can't get the same place in the reservation.
func (c *checker) reservable(w *world, n *scheduling.NewNode, np *scheduling.NodePool, it *cloudprovider.InstanceType, o *cloudprovider.Offering) bool {
	id := reservation(o)
	if n != nil {
		return reservation(c.bought(n)) == id
	}
	if id == "" {
		return true
	}
	left := -1
	for _, x := range c.typesOf(np) {
		for i := range x.Offerings {
			if r := &x.Offerings[i]; r.Available && reservation(r) == id && (left < 0 || r.ReservationCapacity < left) {
				left = r.ReservationCapacity
			}
		}
	}
	for i := range c.p.NewNodes {
		if reservation(c.bought(&c.p.NewNodes[i])) == id {
			left--
		}
	}
	return left > 0
}

// reservation names the reservation that an offering uses, or "" if there is none.
func reservation(o *cloudprovider.Offering) string {
	if o == nil || o.CapacityType() != v1.CapacityTypeReserved {
		return ""
	}
	return "by " + o.Requirements.Without(corev1.LabelTopologyZone, "topology.k8s.aws/zone-id", corev1.LabelTopologyRegion, v1.CapacityTypeLabelKey).String()
}

// bought returns the offering that the plan assumes for a node.
func (c *checker) bought(n *scheduling.NewNode) *cloudprovider.Offering {
	np := c.pools[n.Pool]
	if np == nil || len(n.InstanceTypes) == 0 {
		return nil
	}
	claim := c.claim(n, np)
	for _, it := range c.typesOf(np) {
		for i := range it.Offerings {
			o := &it.Offerings[i]
			if it.Name != n.InstanceTypes[0].Name || !o.Available || n.InstanceTypes[0].Offering() != cloudprovider.KeyOf(it, o) {
				continue
			}
			if _, ok := c.nodeLabels(claim, it, o); ok {
				return o
			}
		}
	}
	return nil
}

// takesMore reports whether a node takes more from the pool's limits than the other.
func takesMore(np *scheduling.NodePool, one, other corev1.ResourceList) bool {
	for name := range np.Object.Spec.Limits {
		a, b := one[name], other[name]
		if a.Cmp(b) > 0 {
			return true
		}
	}
	return false
}

// alike reports whether spread constraints can't distinguish nodes with these labels: they use the labels by which their pods select nodes.
func (c *checker) alike(a, b labels) bool {
	for _, pod := range c.spreading {
		for _, all := range c.selected(&pod.Spec) {
			for _, e := range all {
				if a.get(e.key).only() != b.get(e.key).only() {
					return false
				}
			}
		}
	}
	return true
}

// varied reports whether enough types could be launched with the same pods to meet the pool's minValues: in the same zone and with the same
// capacity type, or, if a type's room does not depend on these, in any that rules between pods can't distinguish.
func (c *checker) varied(np *scheduling.NodePool, d demand, m *machine, o *cloudprovider.Offering, pods []*corev1.Pod) bool {
	here := func(x *cloudprovider.Offering) bool {
		return x.Zone() == o.Zone() && x.CapacityType() == o.CapacityType()
	}
	if c.variedAmong(np, d, m, o, pods, here) {
		return true
	}
	for _, set := range c.sets {
		if len(set.Spec.NodeSelector) > 0 || set.Spec.Affinity != nil {
			return false
		}
	}
	keys := c.noticedKeys(m, pods)
	overrides := false
	for _, it := range c.typesOf(np) {
		overrides = overrides || slices.ContainsFunc(it.Offerings, func(x cloudprovider.Offering) bool { return x.Overhead != nil || len(x.Capacity) > 0 })
	}
	return !overrides && c.variedAmong(np, d, m, o, pods, func(x *cloudprovider.Offering) bool {
		return (!keys[corev1.LabelTopologyZone] || x.Zone() == o.Zone()) && (!keys[v1.CapacityTypeLabelKey] || x.CapacityType() == o.CapacityType())
	})
}

// variedAmong is varied for the types that have such an offering.
func (c *checker) variedAmong(np *scheduling.NodePool, d demand, m *machine, o *cloudprovider.Offering, pods []*corev1.Pod, is func(*cloudprovider.Offering) bool) bool {
	for _, r := range np.Object.Spec.Template.Spec.Requirements {
		if r.MinValues == nil {
			continue
		}
		key, _ := c.canonical(r.Key)
		values := map[string]bool{}
		for _, it := range c.typesOf(np) {
			for i := range it.Offerings {
				other := &it.Offerings[i]
				if !other.Available || takesMore(np, capacity(it, other), m.whole) || !is(other) || reservation(other) != reservation(o) {
					continue
				}
				known, ok := d.on(c, it, other)
				if !ok || !c.alike(known, m.labels) {
					continue
				}
				x := c.launched(m.name, np, it, other, known)
				need := copyOf(m.taken)
				plus(need, requestsOf(pods[len(pods)-1]))
				if len(x.pods) != len(m.pods)-len(pods)+1 || lackNew(need, x.room) != "" || !c.attachesAll(it, slices.Concat(x.pods, pods)) ||
					slices.ContainsFunc(pods, func(pod *corev1.Pod) bool { return !c.accepts(known, &pod.Spec) }) {
					continue
				}
				have := it.Requirements
				if other.Requirements.Has(key) {
					have = other.Requirements
				}
				for _, v := range have.Get(key).Values() {
					values[v] = values[v] || known.get(key).allows(v, true)
				}
			}
		}
		n := 0
		for _, ok := range values {
			if ok {
				n++
			}
		}
		if n < *r.MinValues {
			return false
		}
	}
	return true
}
