package model

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/drawknife/drawknife/internal/engine/resources"
)

// Requested returns the total requests of those movable pods of a node for which moves returns true, including the number of pods. It
// returns nil if the snapshot does not have the node.
func (m *Model) Requested(node string, moves func(*corev1.Pod) bool) corev1.ResourceList {
	i, ok := m.NodeIndex[node]
	if !ok {
		return nil
	}
	sum := make([]int64, m.Resources.Len())
	m.addRequested(sum, i, moves)
	return m.Resources.List(sum)
}

func (m *Model) addRequested(sum []int64, node int, moves func(*corev1.Pod) bool) {
	for _, p := range m.Nodes[node].Movable {
		if moves(p.Pod) {
			resources.AddScaled(sum, m.Classes[p.Class].Requests, 1)
		}
	}
}

// RequestedTogether is like Requested, for pods of several nodes together. Unknown nodes are ignored. moves gets the index of the pod's
// node in the list.
func (m *Model) RequestedTogether(nodes []string, moves func(at int, pod *corev1.Pod) bool) corev1.ResourceList {
	sum := make([]int64, m.Resources.Len())
	for at, name := range nodes {
		if i, ok := m.NodeIndex[name]; ok {
			m.addRequested(sum, i, func(pod *corev1.Pod) bool { return moves(at, pod) })
		}
	}
	return m.Resources.List(sum)
}

// NodeRoom is a node's free amount of a resource.
type NodeRoom struct {
	Node string
	Free resource.Quantity
}

// Roomiest returns the two nodes of the snapshot that have the most free amount of the resource. Of equal nodes it takes the first in the
// snapshot. An entry is zero if no further node has a free amount of the resource.
func (m *Model) Roomiest(name corev1.ResourceName) (out [2]NodeRoom) {
	d := slices.Index(m.Resources.Names, name)
	if d < 0 || m.Snapshot == nil {
		return out
	}
	var most [2]int64
	for i := range m.Snapshot.Nodes {
		node := m.Snapshot.Nodes[i].Name
		free := m.Free[m.NodeIndex[node]*m.Resources.Len()+d]
		switch {
		case free == 0:
		case out[0].Node == "" || free > most[0]:
			out[0].Node, out[1].Node = node, out[0].Node
			most[0], most[1] = free, most[0]
		case out[1].Node == "" || free > most[1]:
			out[1].Node, most[1] = node, free
		}
	}
	for i := range out {
		out[i].Free = resources.Quantity(name, most[i])
	}
	return out
}
