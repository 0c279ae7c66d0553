package scheduling

import (
	"cmp"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/internal/engine/likeness"
	"github.com/drawknife/drawknife/internal/engine/match"
	"github.com/drawknife/drawknife/internal/engine/resources"
)

// node is a machine of the snapshot made ready for planning.
type node struct {
	source      *Node
	name        string
	pool        int32 // index into Model.pools, or -1
	initialized bool
	// usable is false for machines that take no pods: those that are leaving.
	usable bool
	group  int32
	// bound are the pods that hold the machine's resources; movable those of them that would need a new place if it went.
	bound, movable []boundPod
	// over is by how much the machine is overcommitted, by resource; nil if it is not.
	over []int64
	// capacity counts against the pool's limits.
	capacity corev1.ResourceList
}

// boundPod is a pod on a machine of the snapshot.
type boundPod struct {
	class int32
	// terminating tells that the pod is being deleted.
	terminating bool
	pod         *corev1.Pod
}

// nodeGroup is what machines have in common for every shape: taints and those labels that some shape asks about.
type nodeGroup struct {
	labels requirements.Set
	taints []corev1.Taint
	// text tells the group from others.
	text string
}

// nodeView is a machine as planning sees it in its present phase.
type nodeView struct {
	// name is the Node's; empty until it has joined.
	name                  string
	labels                map[string]string
	taints                []corev1.Taint
	capacity, allocatable corev1.ResourceList
	initialized           bool
}

// viewOf merges Node and NodeClaim: before registration the claim speaks, filled up by the node; after it the node,
// filled up by the claim until it is initialised.
func viewOf(n *Node) nodeView {
	v := phaseOf(n)
	if n.Object != nil {
		v.name = n.Name
	}
	return v
}

// phaseOf is viewOf without the name.
func phaseOf(n *Node) nodeView {
	switch {
	case n.Object == nil && n.Claim == nil:
		return nodeView{}
	case n.Object == nil:
		return nodeView{
			labels:      claimLabels(n.Claim),
			taints:      match.SettledTaints(n.Claim.Spec.Taints, n.Claim.Spec.StartupTaints),
			capacity:    n.Claim.Status.Capacity,
			allocatable: n.Claim.Status.Allocatable,
		}
	case n.Claim == nil:
		return nodeView{labels: n.Object.Labels, taints: cordoned(n.Object, n.Object.Spec.Taints), capacity: n.Object.Status.Capacity,
			allocatable: n.Object.Status.Allocatable, initialized: true}
	}
	v := nodeView{
		labels:      n.Object.Labels,
		taints:      n.Object.Spec.Taints,
		capacity:    n.Object.Status.Capacity,
		allocatable: n.Object.Status.Allocatable,
		initialized: n.Object.Labels[v1.NodeInitializedLabelKey] == "true",
	}
	if v.initialized {
		v.taints = cordoned(n.Object, v.taints)
		return v
	}
	v.capacity = filled(v.capacity, n.Claim.Status.Capacity)
	v.allocatable = filled(v.allocatable, n.Claim.Status.Allocatable)
	if n.Object.Labels[v1.NodeRegisteredLabelKey] != "true" {
		v.labels = claimLabels(n.Claim)
		v.taints = n.Claim.Spec.Taints
	}
	v.taints = cordoned(n.Object, match.SettledTaints(v.taints, n.Claim.Spec.StartupTaints))
	return v
}

// cordoned are the node's taints with the one that a cordon brings. kube-scheduler goes by spec.unschedulable, and the
// taint may be a moment behind.
func cordoned(object *corev1.Node, taints []corev1.Taint) []corev1.Taint {
	cordon := corev1.Taint{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule}
	if !object.Spec.Unschedulable || slices.ContainsFunc(taints, func(t corev1.Taint) bool { return t.MatchTaint(&cordon) }) {
		return taints
	}
	return append(slices.Clip(taints), cordon)
}

// claimLabels are a claim's labels with those its requirements pin to one value.
func claimLabels(claim *v1.NodeClaim) map[string]string {
	out := make(map[string]string, len(claim.Labels))
	for _, r := range claim.Spec.Requirements {
		if r.Operator == corev1.NodeSelectorOpIn && len(r.Values) == 1 {
			out[r.Key] = r.Values[0]
		}
	}
	for k, v := range claim.Labels {
		out[k] = v
	}
	return out
}

// filled is have with zero or missing entries taken from from.
func filled(have, from corev1.ResourceList) corev1.ResourceList {
	out := have.DeepCopy()
	if out == nil {
		out = corev1.ResourceList{}
	}
	for name, q := range from {
		if h, ok := out[name]; !ok || h.IsZero() {
			out[name] = q
		}
	}
	return out
}

// compileNodes makes the snapshot's machines ready: those that are initialised first, then by name. classes are those of
// their pods, indexed [node][pod].
func (m *Model) compileNodes(s *Snapshot, r *likeness.Roster, classes [][]int32) error {
	dims := m.resources.Len()
	m.free = make([]int64, 0, len(s.Nodes)*dims)
	order := make([]int, len(s.Nodes))
	views := make([]nodeView, len(s.Nodes))
	for i := range s.Nodes {
		order[i], views[i] = i, viewOf(&s.Nodes[i])
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(boolCompare(views[b].initialized, views[a].initialized), cmp.Compare(s.Nodes[a].Name, s.Nodes[b].Name))
	})
	m.nodeIndex = make(map[string]int, len(s.Nodes))
	m.nodes = make([]node, 0, len(s.Nodes))
	volumeLimits := newAttachLimits(s)
	groups := m.newGrouping()
	pods := newPodArena(countPods(s) - len(m.pods))
	on := make([]likeness.NodePods, len(s.Nodes))
	waiting := len(m.pods)
	for i, p := range r.OfNodes {
		on[i] = likeness.NodePods{Marks: r.Marks[p.From:p.To], Order: r.Order[p.From-waiting : p.To-waiting]}
	}
	for _, i := range order {
		n, view := &s.Nodes[i], &views[i]
		if _, twice := m.nodeIndex[n.Name]; twice {
			return &SnapshotError{Path: "nodes", Rule: "has two nodes named " + n.Name, Cure: "give each node once, with its Node and its NodeClaim"}
		}
		m.nodeIndex[n.Name] = len(m.nodes)
		m.free = slices.Grow(m.free, dims)
		free := m.free[len(m.free) : len(m.free)+dims]
		m.free = m.free[:len(m.free)+dims]
		compiled := m.compileNode(n, view, classes[i], on[i], groups.of(view), volumeLimits, pods, free)
		m.nodes = append(m.nodes, compiled)
	}
	return nil
}

// podArena hands out lists of pods from one piece of memory.
type podArena struct{ bound, movable []boundPod }

// newPodArena has room for so many pods: lists that need more have their own.
func newPodArena(pods int) *podArena {
	return &podArena{make([]boundPod, 0, pods), make([]boundPod, 0, pods)}
}

// take is an empty list with room for n pods.
func take(from *[]boundPod, n int) []boundPod {
	if cap(*from)-len(*from) < n {
		return make([]boundPod, 0, n)
	}
	at := len(*from)
	*from = (*from)[:at+n]
	return (*from)[at : at : at+n]
}

// compileNode makes one machine ready; classes are those of its pods. What it has free is written to free.
func (m *Model) compileNode(n *Node, view *nodeView, classes []int32, on likeness.NodePods, group int32, volumeLimits *attachLimits, pods *podArena, free []int64) node {
	compiled := node{source: n, name: n.Name, pool: -1, initialized: view.initialized, capacity: view.capacity, usable: !n.Leaving, group: group}
	if at, ok := m.poolIndex[n.Pool]; ok {
		compiled.pool = int32(at)
	}
	m.resources.Capacity(view.allocatable, free)
	m.resources.AttachRoom(free, volumeLimits.of(n, view))
	if len(n.Pods) > 0 {
		compiled.bound, compiled.movable = take(&pods.bound, len(n.Pods)), take(&pods.movable, len(n.Pods))
		m.chargePods(n, classes, on, &compiled, free)
	}
	if slices.ContainsFunc(on.Marks, func(k likeness.Marks) bool { return k&likeness.HasClaims != 0 }) {
		m.giveBackShared(n.Pods, free)
	}
	m.chargeAttachments(n, free)
	m.reserveDaemons(n, group, free)
	for at := range free {
		if free[at] < 0 && compiled.over == nil {
			compiled.over = make([]int64, len(free))
		}
		if free[at] < 0 {
			compiled.over[at] = -free[at]
		}
		// kube-scheduler's NodeResourcesFit compares only what a pod asks for: what is overcommitted is as good as used up.
		free[at] = max(free[at], 0)
	}
	return compiled
}

func boolCompare(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// chargePods takes the bound pods off the machine's free amounts and notes those that could move.
func (m *Model) chargePods(n *Node, classes []int32, on likeness.NodePods, into *node, free []int64) {
	for i, is := range on.Marks {
		if is&likeness.HasEnded == 0 {
			resources.AddScaled(free, m.classes[classes[i]].Requests, -1)
			into.bound = append(into.bound, boundPod{classes[i], is&likeness.IsDeleted != 0, n.Pods[i]})
		}
	}
	for _, i := range on.Order {
		pod, is := n.Pods[i], on.Marks[i]
		switch {
		case is&likeness.HasEnded != 0:
			if awaited(pod) {
				into.movable = append(into.movable, boundPod{classes[i], true, pod})
			}
		case is&(likeness.OfDaemonSet|likeness.IsStatic) == 0:
			into.movable = append(into.movable, boundPod{classes[i], is&likeness.IsDeleted != 0, pod})
		}
	}
	if len(into.bound) == 0 {
		into.bound = nil
	}
	if len(into.movable) == 0 {
		into.movable = nil
	}
}

// awaited reports whether the pod, which has ended, is being deleted to make room for its successor: a StatefulSet makes that
// only then, and it needs a place.
func awaited(pod *corev1.Pod) bool {
	return pod.DeletionTimestamp != nil && slices.ContainsFunc(pod.OwnerReferences, func(o metav1.OwnerReference) bool {
		return o.Kind == "StatefulSet" && o.APIVersion == appsv1.SchemeGroupVersion.String()
	})
}

// reserveDaemons keeps room for the DaemonSet pods that belong on the machine but are not bound to it yet: for each
// DaemonSet what it wants beyond what its own pods there hold.
func (m *Model) reserveDaemons(n *Node, group int32, free []int64) {
	if len(m.daemonSets) == 0 {
		return
	}
	held := make([]int64, len(free))
	for i := range m.daemonSets {
		d := &m.daemonSets[i]
		if !d.BelongsOn(m.groups[group].labels, m.groups[group].taints) {
			continue
		}
		clear(held)
		for _, pod := range n.Pods {
			if uid, ok := match.DaemonOwner(pod); ok && uid == d.Object.UID && !likeness.Ended(pod) {
				own := make([]int64, len(free))
				m.resources.Requests(resources.OfPod(pod), own)
				resources.AddScaled(held, own, 1)
			}
		}
		for r := range free {
			free[r] -= max(d.Requests[r]-held[r], 0)
		}
	}
}

// missingDaemons are the DaemonSets, by number, that belong on the machine and have no pod there yet.
func (m *Model) missingDaemons(n *node) []int {
	var out []int
	for i := range m.daemonSets {
		d := &m.daemonSets[i]
		bound := slices.ContainsFunc(n.bound, func(p boundPod) bool {
			uid, ok := match.DaemonOwner(p.pod)
			return ok && uid == d.Object.UID
		})
		if !bound && d.BelongsOn(m.groups[n.group].labels, m.groups[n.group].taints) {
			out = append(out, i)
		}
	}
	return out
}

// groupOf finds or makes the group of machines with the same taints and the same values of the labels asked about.
func (m *Model) groupOf(view *nodeView, groups map[string]int32) int32 {
	labels := make(map[string]string, len(m.askedKeys))
	for k, v := range view.labels {
		canonical := m.vocab.Canonical(k)
		if _, own := view.labels[canonical]; own && canonical != k {
			continue // the canonical label speaks for itself
		}
		if m.askedKeys[canonical] {
			labels[canonical] = m.vocab.CanonicalValue(canonical, v)
		}
	}
	if m.askedKeys[match.NodeName] && view.name != "" {
		labels[match.NodeName] = view.name
	}
	set := requirements.FromLabels(labels)
	text := set.String()
	for i := range view.taints {
		text += "\x00" + TaintString(view.taints[i])
	}
	if g, ok := groups[text]; ok {
		return g
	}
	g := int32(len(m.groups))
	m.groups = append(m.groups, nodeGroup{labels: set, taints: view.taints, text: text})
	groups[text] = g
	return g
}

// How machines of a group take pods of a shape, resources aside.
const (
	fitUnknown uint32 = iota
	fitNever
	fitGivingUp // a preference of the pod, or the aversion to a PreferNoSchedule taint, would be given up
	fitFully
)

// accepts reports whether machines of the group take pods of the shape, resources aside.
func (m *Model) accepts(group, shape int32) bool { return m.fitOf(group, shape) >= fitGivingUp }

// fitOf is one of the fit constants. The answer is computed once.
func (m *Model) fitOf(group, shape int32) uint32 {
	cell := &m.compat[int(shape)*len(m.groups)+int(group)]
	if known := cell.Load(); known != fitUnknown {
		return known
	}
	g, s := &m.groups[group], m.shapes[shape]
	fit := fitFully
	switch {
	case s.Invalid != nil, match.Untolerated(s.Tolerations, g.taints, true) != nil,
		!match.AnyMetBy(s.Terms, g.labels), !s.VolumesOn(g.labels):
		fit = fitNever
	case match.Untolerated(s.Tolerations, g.taints, false) != nil,
		slices.ContainsFunc(s.Preferred, func(p match.Preference) bool { return !p.Set.MetBy(g.labels) }):
		fit = fitGivingUp
	}
	cell.Store(fit)
	return fit
}
