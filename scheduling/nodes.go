package scheduling

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/internal/engine/newnodes"
	"github.com/drawknife/drawknife/internal/engine/valuing"
)

// Launchables tell which kinds of node new nodes with pods of the snapshot's nodes may be, as far as each pod alone decides:
// of pools that launch now and whose taints it tolerates, those that meet what the pool and the pod require. What pods prefer,
// rules between pods, limits and minValues narrow that further, so that every new node of every plan is one of these.
// They remember what they found and must not be used by several goroutines at once.
type Launchables struct{ l *valuing.Launchables }

// Launchables of the model's pools.
func (m *Model) Launchables() *Launchables {
	return &Launchables{valuing.FindLaunchables(m.c)}
}

// Of is the group of nodes that new nodes with the pod on them may be, a number for Kinds, and the price of the cheapest
// of them that has room for the pod in addition to its DaemonSets, USD per hour. Others of the group may be too small for it; those of
// pools that have none with room for it are not of the group. False if the node has no such pod that could move, or no node of
// any pool would hold it.
func (l *Launchables) Of(node string, pod PodKey) (group int, cheapest float64, ok bool) {
	return l.l.Of(node, pod)
}

// Kinds are the nodes of the groups, each once, in the order of pools by which plans prefer them and then by type: every new
// node with pods of these groups is one of them, whatever else it holds. Numbers that Of never gave stand for nothing.
func (l *Launchables) Kinds(groups ...int) []Launchable {
	return l.l.Kinds(groups...)
}

// Free is what a node of the snapshot has free; false for a name that it lacks.
func (m *Model) Free(name string) (corev1.ResourceList, bool) {
	return m.c.FreeOn(name)
}

// Requested is what those pods of a node ask for together, themselves counted, that could move and that moves says so of; nil for a
// name that the snapshot lacks.
func (m *Model) Requested(node string, moves func(*corev1.Pod) bool) corev1.ResourceList {
	return m.c.Requested(node, moves)
}

// RequestedTogether is Requested for pods of several nodes together; names that the snapshot lacks have none. moves is asked about pods of
// the node of that place in the list.
func (m *Model) RequestedTogether(nodes []string, moves func(at int, pod *corev1.Pod) bool) corev1.ResourceList {
	return m.c.RequestedTogether(nodes, moves)
}

// Roomiest are the two nodes of the snapshot with most of the resource free, of equals those that come first in the snapshot; zero where there
// are fewer with any.
func (m *Model) Roomiest(name corev1.ResourceName) (out [2]NodeRoom) {
	return m.c.Roomiest(name)
}

// NodePrice is what a node of the snapshot costs now by its offering's list price, its pool's terms, and what commitments
// cover of it; false for a name that the snapshot lacks, and for a node whose instance type or offering no catalog has. It
// is safe for concurrent use.
func (m *Model) NodePrice(name string) (NodePrice, bool) {
	return newnodes.NodePrice(m.c, name)
}
