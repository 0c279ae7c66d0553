package existing

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/internal/engine/daemonset"
	"github.com/drawknife/drawknife/internal/engine/match"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// Node is a node that is prepared for planning.
type Node struct {
	Source      *planning.Node
	Name        string
	Pool        int32 // number of the node's pool, or -1
	Initialized bool
	// Usable is false for nodes that take no pods because they are being removed.
	Usable bool
	Group  int32
	// Bound are the pods that use the node's resources. Movable are the bound pods that would need a new place if the node were removed.
	Bound, Movable []Pod
	// Over is the amount by which each resource of the node is overcommitted. It is nil if no resource is overcommitted.
	Over []int64
	// Capacity is the node's capacity, which counts towards the pool's limits.
	Capacity corev1.ResourceList
}

// Pod is a pod on an existing node.
type Pod struct {
	Class int32
	// Terminating says that the pod is being deleted.
	Terminating bool
	Pod         *corev1.Pod
}

// MissingDaemons returns the numbers of the DaemonSets that belong on the node and have no pod there yet. g is the node's group.
func (n *Node) MissingDaemons(sets []daemonset.Set, g *Group) []int {
	var out []int
	for i := range sets {
		d := &sets[i]
		bound := slices.ContainsFunc(n.Bound, func(p Pod) bool {
			uid, ok := match.DaemonOwner(p.Pod)
			return ok && uid == d.Object.UID
		})
		if !bound && d.BelongsOn(g.Labels, g.Taints) {
			out = append(out, i)
		}
	}
	return out
}
