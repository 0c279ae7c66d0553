package existing

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/internal/engine/daemonset"
	"github.com/drawknife/drawknife/internal/engine/likeness"
	"github.com/drawknife/drawknife/internal/engine/match"
	"github.com/drawknife/drawknife/internal/engine/podclass"
	"github.com/drawknife/drawknife/internal/engine/resources"
	"github.com/drawknife/drawknife/internal/engine/volumes"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// Maker prepares nodes for planning.
type Maker struct {
	Resources  *resources.Table
	Volumes    *volumes.Index
	Limits     *AttachLimits
	DaemonSets []daemonset.Set
	Groups     *Groups
	Classes    []*podclass.Class
	// PoolIndex maps each pool to its number.
	PoolIndex map[v1.PoolKey]int
	// DevicesOf writes the amounts of the named node's unused devices to the vector free, which already has the node's other amounts.
	// allocatable is the node's allocatable. DevicesOf is nil if no pod claims devices.
	DevicesOf func(node string, allocatable corev1.ResourceList, free []int64)
}

// Node prepares one node. classes has the class of each of its pods. Its free amounts are written to free.
func (m *Maker) Node(n *planning.Node, view *View, classes []int32, on likeness.NodePods, group int32, pods *Arena, free []int64) Node {
	compiled := Node{Source: n, Name: n.Name, Pool: -1, Initialized: view.Initialized, Capacity: view.Capacity, Usable: !n.Leaving, Group: group}
	if at, ok := m.PoolIndex[n.Pool]; ok {
		compiled.Pool = int32(at)
	}
	m.Resources.Capacity(view.allocatable, free)
	m.Resources.AttachRoom(free, m.Limits.of(n, view))
	if len(n.Pods) > 0 {
		compiled.Bound, compiled.Movable = take(&pods.bound, len(n.Pods)), take(&pods.movable, len(n.Pods))
		m.chargePods(n, classes, on, &compiled, free)
	}
	if slices.ContainsFunc(on.Marks, func(k likeness.Marks) bool { return k&likeness.HasClaims != 0 }) {
		m.giveBackShared(n.Pods, free)
	}
	m.chargeAttachments(n, free)
	if m.DevicesOf != nil {
		m.DevicesOf(n.Name, view.allocatable, free)
	}
	m.reserveDaemons(n, group, classes, free)
	for at := range free {
		if free[at] < 0 && compiled.Over == nil {
			compiled.Over = make([]int64, len(free))
		}
		if free[at] < 0 {
			compiled.Over[at] = -free[at]
		}
		// kube-scheduler's NodeResourcesFit compares only the resources that a pod requests. So an overcommitted resource has no free
		// amount, and does not affect other resources.
		free[at] = max(free[at], 0)
	}
	return compiled
}

// Arena allocates lists of pods from one large slice each.
type Arena struct{ bound, movable []Pod }

// NewArena makes an arena for the given number of pods. Lists that no longer fit into these slices are allocated separately.
func NewArena(pods int) *Arena {
	return &Arena{make([]Pod, 0, pods), make([]Pod, 0, pods)}
}

// take returns an empty list with capacity for n pods.
func take(from *[]Pod, n int) []Pod {
	if cap(*from)-len(*from) < n {
		return make([]Pod, 0, n)
	}
	at := len(*from)
	*from = (*from)[:at+n]
	return (*from)[at : at : at+n]
}

// chargePods subtracts the bound pods from the node's free amounts, and records the pods that could move.
func (m *Maker) chargePods(n *planning.Node, classes []int32, on likeness.NodePods, into *Node, free []int64) {
	for i, is := range on.Marks {
		if is&likeness.HasEnded == 0 {
			resources.AddScaled(free, m.Classes[classes[i]].Requests, -1)
			into.Bound = append(into.Bound, Pod{classes[i], is&likeness.IsDeleted != 0, n.Pods[i]})
		}
	}
	for _, i := range on.Order {
		pod, is := n.Pods[i], on.Marks[i]
		switch {
		case is&likeness.HasEnded != 0:
			if awaited(pod) {
				into.Movable = append(into.Movable, Pod{classes[i], true, pod})
			}
		case is&(likeness.OfDaemonSet|likeness.IsStatic) == 0:
			into.Movable = append(into.Movable, Pod{classes[i], is&likeness.IsDeleted != 0, pod})
		}
	}
	if len(into.Bound) == 0 {
		into.Bound = nil
	}
	if len(into.Movable) == 0 {
		into.Movable = nil
	}
}

// awaited reports whether an ended pod of a StatefulSet is being deleted. The StatefulSet creates a pod with the same name only after the
// deletion, and that pod needs a node.
func awaited(pod *corev1.Pod) bool {
	return pod.DeletionTimestamp != nil && slices.ContainsFunc(pod.OwnerReferences, func(o metav1.OwnerReference) bool {
		return o.Kind == "StatefulSet" && o.APIVersion == appsv1.SchemeGroupVersion.String()
	})
}

// reserveDaemons reserves room for DaemonSet pods that belong on the node but are not bound to it yet. For each DaemonSet, it reserves the
// requests of one pod, minus the requests of the DaemonSet's pods that are already on the node.
func (m *Maker) reserveDaemons(n *planning.Node, group int32, classes []int32, free []int64) {
	if len(m.DaemonSets) == 0 {
		return
	}
	held := make([]int64, len(free))
	for i := range m.DaemonSets {
		d := &m.DaemonSets[i]
		if !d.BelongsOn(m.Groups.List[group].Labels, m.Groups.List[group].Taints) {
			continue
		}
		clear(held)
		for j, pod := range n.Pods {
			if uid, ok := match.DaemonOwner(pod); ok && uid == d.Object.UID && !likeness.Ended(pod) {
				resources.AddScaled(held, m.Classes[classes[j]].Requests, 1)
			}
		}
		for r := range free {
			missing := max(d.Requests[r]-held[r], 0)
			if missing > max(free[r], 0) && resources.CountsDevices(m.Resources.Names[r]) {
				missing = max(free[r], 0) // the DaemonSet pod stays pending, and does not exclude other pods
			}
			free[r] -= missing
		}
	}
}

// giveBackShared corrects the node's free amounts for volumes that several of its pods share: each volume counts once.
func (m *Maker) giveBackShared(pods []*corev1.Pod, free []int64) {
	seen := map[volumes.ID]bool{}
	for _, pod := range pods {
		if len(pod.Spec.Volumes) == 0 || likeness.Ended(pod) {
			continue
		}
		for _, c := range m.Volumes.Attached(pod) {
			if c.Handle != "" && seen[c.ID] {
				if at, ok := m.Resources.At(resources.Attachable(c.Driver)); ok {
					free[at]++
				}
			}
			seen[c.ID] = true
		}
	}
}

// chargeAttachments subtracts from the node's free amounts the number of volumes that are attached to the node although none of its pods
// uses them. These are volumes of deleted pods that are not detached yet. If a new pod uses such a volume, the volume counts twice, as in
// kube-scheduler.
func (m *Maker) chargeAttachments(n *planning.Node, free []int64) {
	for driver, count := range m.Volumes.Unused(n.Name, n.Pods) {
		if at, ok := m.Resources.At(resources.Attachable(driver)); ok {
			free[at] -= count
		}
	}
}
