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
	// Usable is false for nodes that take no pods: those that are leaving.
	Usable bool
	Group  int32
	// Bound are the pods that use the node's resources; Movable are those of them that would need a new place if the node were removed.
	Bound, Movable []Pod
	// Over is the amount by which the node is overcommitted, by resource; nil if it is not.
	Over []int64
	// Capacity counts against the pool's limits.
	Capacity corev1.ResourceList
}

// Pod is a pod on an existing node.
type Pod struct {
	Class int32
	// Terminating says that the pod is being deleted.
	Terminating bool
	Pod         *corev1.Pod
}

// MissingDaemons returns the DaemonSets, by number, that belong on the node, which is of the group, and have no pod there yet.
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
