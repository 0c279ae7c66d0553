package state

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/api/requirements"
	"github.com/drawknife/drawknife/internal/engine/nodepool"
	"github.com/drawknife/drawknife/internal/engine/resources"
)

// Node is a new node.
type Node struct {
	Pool, Row, Slot int32
	// Labels are the labels whose value is decided for this node although neither its instance type nor its offering states the value.
	Labels requirements.Set
	// Price is the price of the node without a commitment, in nano-USD per hour.
	Price int64
	// Commitment is the number, from 1, of the commitment that is planned to cover the node, or 0. The commitment may stay when the node is
	// exchanged.
	Commitment int32
	// Used is the sum of the requests of the node's pods, by resource.
	Used []int64
	// Abandoned means that the node got no pods and was removed from all counts.
	Abandoned bool
}

// Empty reports whether no pod was placed on the node. Such a node is not bought.
func (n *Node) Empty() bool { return n.Used[resources.Pods] == 0 }

// Unused reports whether the node has no pods but was not abandoned.
func (n *Node) Unused() bool { return n.Empty() && !n.Abandoned }

// Capacity returns the capacity of instances of the node's type.
func (n *Node) Capacity(pools []*nodepool.Pool) corev1.ResourceList {
	t := pools[n.Pool].Table
	return t.Catalog.Variants[t.Rows[n.Row].Variant].Capacity
}

// Reservation returns the reservation that the node uses, or "" if it uses none.
func (n *Node) Reservation(pools []*nodepool.Pool) string {
	return pools[n.Pool].Table.Catalog.Slots[n.Slot].Reservation
}

// DecidedLabels returns the labels of a new node whose value is decided and that rules or pods ask about.
func DecidedLabels(pools []*nodepool.Pool, asked map[string]bool, node *Node, as *nodepool.Assignment) requirements.Set {
	labels := map[string]string{}
	for key := range asked {
		if v := pools[node.Pool].Label(int(node.Row), int(node.Slot), as, key); v != "" {
			labels[key] = v
		}
	}
	return requirements.FromLabels(labels)
}

// KnownLabels returns the labels of DecidedLabels and, for labels whose value is not decided, the possible values.
func KnownLabels(pools []*nodepool.Pool, asked map[string]bool, node *Node, as *nodepool.Assignment) requirements.Set {
	return pools[node.Pool].WithOpen(DecidedLabels(pools, asked, node, as), int(node.Row), as, asked)
}

// Nodes are the new nodes, in the order in which they were opened.
type Nodes []Node

// Filled returns the number of new nodes that have pods.
func (l Nodes) Filled() int {
	n := 0
	for i := range l {
		if !l[i].Empty() {
			n++
		}
	}
	return n
}

// Open adds a new, empty node and returns its host number.
func (s *State) Open(node Node) int32 {
	node.Used = make([]int64, s.w.Dims)
	s.Limits.countNew(&node, 1)
	s.Planned, s.Placed.last = append(s.Planned, node), append(s.Placed.last, 0)
	s.Log.note(change{kind: changeOpened})
	i := len(s.Planned) - 1
	host := s.w.hostOf(int32(i))
	if s.Topology != nil {
		s.rules.opened(&s.w, s.Topology, host, &s.Planned[i])
	}
	return host
}

// unopen undoes Open.
func (s *State) unopen() {
	i := len(s.Planned) - 1
	node := &s.Planned[i]
	s.Limits.countNew(node, -1)
	if s.Topology != nil {
		s.rules.unopened(&s.w, s.Topology, s.w.hostOf(int32(i)), node)
	}
	s.Planned, s.Placed.last = s.Planned[:i], s.Placed.last[:len(s.Placed.last)-1]
}

// AbandonEmpty removes new nodes without pods from all counts. After that, other nodes can use the limits of their pools and their
// reservations, and rules no longer count their domains.
func (s *State) AbandonEmpty() {
	for i := range s.Planned {
		if s.Planned[i].Unused() {
			s.abandon(int32(i))
		}
	}
}

// abandon removes the empty new node with index i from all counts.
func (s *State) abandon(i int32) {
	s.countNew(i, -1)
	s.Log.note(change{changeAbandoned, i, 0})
}

// countNew removes the empty new node with index i from all counts (if n is -1), or adds it again (if n is 1).
func (s *State) countNew(i int32, n int) {
	node := &s.Planned[i]
	node.Abandoned = n < 0
	s.Limits.countNew(node, n)
	if s.Topology != nil {
		s.rules.abandoned(&s.w, s.Topology, s.w.hostOf(i), node, int32(n))
	}
}

// Drop removes a new node from all counts, as if it had never been opened. Its pods become pending again. It returns the number of these
// pods.
func (s *State) Drop(number int) (pods int) {
	for i := range s.Placed.numbers(s.w.hostOf(int32(number))) {
		pods += int(s.Placed.All[i].Count)
		s.takeAway(i)
	}
	s.abandon(int32(number))
	return pods
}

// NewNodesSince lists the new nodes that were opened or have changed since the mark, in ascending order. The mark must be valid: see
// Log.Holds.
func (s *State) NewNodesSince(m Mark) []int32 {
	var out []int32
	opened, placement := len(s.Planned)-s.Log.OpenedSince(m), int32(len(s.Placed.All)-s.Log.placedSince(m))
	for i := opened; i < len(s.Planned); i++ {
		out = append(out, int32(i))
	}
	touch := func(node int32) {
		if node >= 0 && int(node) < opened {
			out = append(out, node)
		}
	}
	existing := int32(len(s.w.Nodes))
	for _, c := range s.Log.changes[m.log:] {
		switch c.kind {
		case changePlaced:
			touch(s.Placed.All[placement].Host - existing)
			placement++
		case changeTaken, changeStage:
			touch(s.Placed.All[c.a].Host - existing)
		case changeSealed:
			touch(c.a - existing)
		case changeMoved, changeAbandoned:
			touch(c.a)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Exchange replaces the new node with index i by another node of its pool. Exchange can be undone.
func (s *State) Exchange(i int32, other Node) {
	s.replaced = append(s.replaced, s.Planned[i])
	s.Log.note(change{changeMoved, i, 0})
	s.become(i, other)
}

// become replaces the new node with index i by another node of its pool. If there are topology rules, the other node must have the same
// DaemonSet pods. If rules concern the pods on the node, the other node must also be in the same domains.
func (s *State) become(i int32, other Node) {
	node := &s.Planned[i]
	s.Limits.count(node.Pool, node.Capacity(s.w.Pools), -1)
	relabelled := s.Topology != nil && (node.Row != other.Row || node.Slot != other.Slot || !node.Labels.Equal(other.Labels))
	node.Row, node.Slot, node.Price, node.Labels, node.Commitment = other.Row, other.Slot, other.Price, other.Labels, other.Commitment
	s.Limits.count(node.Pool, node.Capacity(s.w.Pools), 1)
	if relabelled {
		s.rules.relabelled(&s.w, s.Topology, s.w.hostOf(i), node, &s.Placed)
	}
}
