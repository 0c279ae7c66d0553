package scheduling

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/internal/engine/daemonset"
	"github.com/drawknife/drawknife/internal/engine/match"
)

// node is a machine of the snapshot made ready for planning.
type node struct {
	source      *nodeSource
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

// missingDaemons are the DaemonSets, by number, that belong on the node, which is of the group, and have no pod there yet.
func (n *node) missingDaemons(sets []daemonset.Set, g *nodeGroup) []int {
	var out []int
	for i := range sets {
		d := &sets[i]
		bound := slices.ContainsFunc(n.bound, func(p boundPod) bool {
			uid, ok := match.DaemonOwner(p.pod)
			return ok && uid == d.Object.UID
		})
		if !bound && d.BelongsOn(g.labels, g.taints) {
			out = append(out, i)
		}
	}
	return out
}
