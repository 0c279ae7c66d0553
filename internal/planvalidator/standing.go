package planvalidator

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/scheduling"
)

// node has the properties of a node that decide which pods it accepts. It is a node of the snapshot, or a new node of the plan with one
// type and offering.
type node struct {
	name   string
	isNew  bool
	labels labels
	taints []corev1.Taint
	// whole is the capacity of a new node.
	whole corev1.ResourceList
	// size is the node's room for pods if no pods are on it.
	size corev1.ResourceList
	// room is the free room for pending pods: size without the requests of bound pods and of DaemonSet pods.
	room corev1.ResourceList
	// volumes has the number of volumes of each driver that the node can attach. A driver without an entry has no limit.
	volumes map[string]int64
	// pods are the pods on the node: bound pods, DaemonSet pods, and the pods of the plan that have been put on the node so far.
	pods []*corev1.Pod
	// taken has the total requests of the pods of the plan that have been put on the node so far.
	taken corev1.ResourceList
}

// put places a pod of the plan on the node.
func (m *node) put(pod *corev1.Pod) {
	m.pods = append(m.pods, pod)
	plus(m.taken, requestsOf(pod))
}

// world has the nodes of the snapshot and the plan's new nodes, as if the new nodes had joined the cluster.
type world struct {
	c      *checker
	nodes  []*node
	byName map[string]*node
}

// domain returns the node's value of a topology key, or "" if the node lacks the label or its value is not known.
func (w *world) domain(m *node, key string) string {
	key, _ = w.c.canonical(key)
	if key == corev1.LabelHostname {
		return m.name
	}
	return m.labels.get(key).only()
}

// only returns the only possible value of a label, or "" if the label may be missing or have several values.
func (l label) only() string {
	if l.allows("", false) {
		return ""
	}
	found := ""
	for _, r := range l {
		if r.op != corev1.NodeSelectorOpIn {
			continue
		}
		for _, v := range r.values {
			if !l.allows(v, true) || v == found {
				continue
			}
			if found != "" {
				return ""
			}
			found = v
		}
		return found
	}
	return ""
}

// empty returns the world before any pod of the plan is placed. It does not contain nodes that are being removed.
func (c *checker) empty() *world {
	w := &world{c: c, byName: map[string]*node{}}
	for i := range c.s.Nodes {
		if n := &c.s.Nodes[i]; !n.Leaving {
			w.add(c.existing(n))
		}
	}
	for i := range c.p.NewNodes {
		if m := c.planned(&c.p.NewNodes[i]); m != nil {
			w.add(m)
		}
	}
	return w
}

func (w *world) add(m *node) {
	w.nodes = append(w.nodes, m)
	w.byName[m.name] = m
}

// with returns a copy of the world with one more node. If the world has a node of the same name, the new node replaces it.
func (w *world) with(m *node) *world {
	out := &world{c: w.c, byName: map[string]*node{}}
	for _, other := range w.nodes {
		if other.name != m.name {
			out.add(other)
		}
	}
	out.add(m)
	return out
}

// existing returns a node of the snapshot, with the pods that are bound to it and the DaemonSet pods that it will get.
func (c *checker) existing(n *scheduling.Node) *node {
	v := c.view(n)
	m := &node{name: n.Name, labels: v.labels, taints: v.taints, size: v.room, room: c.freeOn(n, v), taken: corev1.ResourceList{}, volumes: c.attachable(n, v)}
	for _, pod := range n.Pods {
		if !finished(pod) {
			m.pods = append(m.pods, pod)
		}
	}
	for i, set := range c.sets {
		runs := slices.ContainsFunc(m.pods, func(pod *corev1.Pod) bool { return daemonOf(pod, c.s.DaemonSets[i]) })
		if !runs && blocking(&set.Spec, v.taints) == nil && c.accepts(v.labels, &set.Spec) {
			m.pods = append(m.pods, set)
		}
	}
	return m
}

// planned returns a new node of the plan with the first of its instance types, or nil if the pool can't launch that type.
func (c *checker) planned(n *scheduling.NewNode) *node {
	np := c.pools[n.Pool]
	if np == nil || len(n.InstanceTypes) == 0 {
		return nil
	}
	first := n.InstanceTypes[0]
	claim := c.claim(n, np)
	for _, it := range c.typesOf(np) {
		for i := range it.Offerings {
			o := &it.Offerings[i]
			if it.Name != first.Name || !o.Available || first.Offering() != cloudprovider.KeyOf(it, o) {
				continue
			}
			if plain, _ := c.price(n.Pool, it, o, uncovered); !covers(n) && !close(plain, first.Price) {
				continue
			}
			if found, ok := c.nodeLabels(claim, it, o); ok {
				return c.launched(n.Name, np, it, o, found)
			}
		}
	}
	return nil
}

// launched returns a new node on which only DaemonSet pods run.
func (c *checker) launched(name string, np *scheduling.NodePool, it *cloudprovider.InstanceType, o *cloudprovider.Offering, known labels) *node {
	taints := np.Object.Spec.Template.Spec.Taints
	m := &node{name: name, isNew: true, labels: known, taints: taints, whole: capacity(it, o), size: room(it, o), room: room(it, o), taken: corev1.ResourceList{}, volumes: map[string]int64{}}
	for driver, n := range it.VolumeLimits {
		m.volumes[driver] = int64(n)
	}
	minus(m.room, c.daemonsOn(known, taints))
	m.pods = c.daemonPodsOn(known, taints)
	return m
}

// assumed changes the room of a new node to the room that planning assumes, and returns the node. Planning subtracts the requests of all
// DaemonSets that the pool's template allows, including DaemonSets that a label with an open value will keep off the node. The room that
// planning assumes decides whether a plan could have included the node. But the DaemonSet pods that will really run on the node decide
// whether the node has room for its pods.
func (c *checker) assumed(m *node, np *scheduling.NodePool, it *cloudprovider.InstanceType, o *cloudprovider.Offering) *node {
	key := np.Key
	if key.Name == "" {
		key = v1.NewPoolKey(np.Object.Name)
	}
	if known, ok := c.nodeLabels(c.template(np, key), it, o); ok {
		minus(m.room, c.daemonsOn(known, m.taints))
		plus(m.room, c.daemonsOn(m.labels, m.taints))
	}
	return m
}

// attachable returns, by driver, how many volumes a node of the snapshot can attach.
func (c *checker) attachable(n *scheduling.Node, v view) map[string]int64 {
	out := map[string]int64{}
	for _, csi := range c.s.CSINodes {
		if csi.Name != n.Name {
			continue
		}
		for _, d := range csi.Spec.Drivers {
			if d.Allocatable != nil && d.Allocatable.Count != nil {
				out[d.Name] = int64(*d.Allocatable.Count)
			}
		}
		c.takeAttached(n, out)
		return out
	}
	if n.Claim == nil || n.Object != nil && n.Object.Labels[v1.NodeInitializedLabelKey] == "true" {
		return out
	}
	for _, list := range c.s.Catalogs {
		for _, it := range list {
			if it.Name == v.labels.get(corev1.LabelInstanceTypeStable).only() {
				for driver, n := range it.VolumeLimits {
					out[driver] = int64(n)
				}
			}
		}
	}
	return out
}

// lack names a resource of which the node has less free than the given requests need, or returns "" if the requests fit.
func (m *node) lack(need corev1.ResourceList) string {
	if m.isNew {
		return lackNew(need, m.room)
	}
	return lack(need, m.room)
}

// refuses says why the pod can't be bound to the node now, or returns "" if it can.
func (w *world) refuses(m *node, pod *corev1.Pod) string {
	if t := blocking(&pod.Spec, m.taints); t != nil {
		return "taint " + t.ToString()
	}
	if !w.c.accepts(m.labels, &pod.Spec) {
		return "node affinity"
	}
	need := copyOf(m.taken)
	plus(need, requestsOf(pod))
	if short := m.lack(need); short != "" {
		return short
	}
	if port := portClash(m.pods, pod); port != "" {
		return port
	}
	if disk := diskClash(m.pods, pod); disk != "" {
		return disk
	}
	if why := w.spreadRefuses(m, pod); why != "" {
		return why
	}
	if why := w.affinityRefuses(m, pod); why != "" {
		return why
	}
	return w.volumesRefuse(m, pod)
}
