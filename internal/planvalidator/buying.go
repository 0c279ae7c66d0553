package planvalidator

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/scheduling"
)

// sharesUnmade reports whether the pod uses a volume that does not exist yet and that another pod also uses.
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

// affordable reports whether the pool's limits allow a node of the type. The node replaces the planned node n. If n is nil, it is an
// additional node.
func (c *checker) affordable(key v1.PoolKey, n *scheduling.NewNode, it *cloudprovider.InstanceType, o *cloudprovider.Offering) bool {
	after, standing := c.afterwards(key), c.used(key)
	for name, limit := range c.pools[key].Object.Spec.Limits {
		if q := after[name]; n == nil && q.Cmp(limit) > 0 {
			return false // a pool above a limit gets no new nodes
		}
		if q := standing[name]; n == nil && key.Generation == v1.GenerationV1Alpha5 && q.Sign() > 0 && q.Cmp(limit) >= 0 {
			return false // a v1alpha5 pool that has reached a limit also gets no new nodes
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

// reservable reports whether a node can use the offering: it is not reserved, or its reservation has instances left. If n is not nil, the
// offering must have the same reservation as the planned node n, because a planned node can't switch to another reservation.
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

// reservation returns the name of the reservation that an offering uses, or "" if it uses none.
func reservation(o *cloudprovider.Offering) string {
	if o == nil || o.CapacityType() != v1.CapacityTypeReserved {
		return ""
	}
	return "by " + o.Requirements.Without(corev1.LabelTopologyZone, "topology.k8s.aws/zone-id", corev1.LabelTopologyRegion, v1.CapacityTypeLabelKey).String()
}

// bought returns the offering that the plan assumes for a node, or nil if there is no such offering.
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

// takesMore reports whether the first resource list has a larger amount than the second of some resource that the pool limits.
func takesMore(np *scheduling.NodePool, one, other corev1.ResourceList) bool {
	for name := range np.Object.Spec.Limits {
		a, b := one[name], other[name]
		if a.Cmp(b) > 0 {
			return true
		}
	}
	return false
}

// alike reports whether spread constraints can't distinguish a node with the labels a from a node with the labels b. A spread constraint
// can only distinguish nodes by the labels that its pod's node selection names.
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

// varied reports whether the pool's minValues are met by the instance types that could be launched with the same pods. Each of these types
// must have an offering in the same zone and with the same capacity type as the offering o. If a type's allocatable resources depend on
// neither zone nor capacity type, an offering suffices that rules between pods can't distinguish from the offering o.
func (c *checker) varied(np *scheduling.NodePool, d demand, m *node, o *cloudprovider.Offering, pods []*corev1.Pod) bool {
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

// variedAmong does what varied does, but it counts only types with an offering that the given function accepts.
func (c *checker) variedAmong(np *scheduling.NodePool, d demand, m *node, o *cloudprovider.Offering, pods []*corev1.Pod, is func(*cloudprovider.Offering) bool) bool {
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
