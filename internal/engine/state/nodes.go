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
	// Labels are decided labels that neither its type nor its offering states.
	Labels requirements.Set
	// Price without a commitment.
	Price int64
	// Commitment that is planned to cover it, by number from 1; 0 for none. The node may keep it.
	Commitment int32
	// Used is the sum of its pods' requests, by resource.
	Used []int64
	// Abandoned nodes got no pods and no longer count.
	Abandoned bool
	// last is the number of the last binding on it, from 1; 0 for none.
	last int32
}

// Empty reports whether none of the node's pods was admitted: it is not bought.
func (n *Node) Empty() bool { return n.Used[resources.Pods] == 0 }

// Unused reports whether the node has no pods and counts nevertheless.
func (n *Node) Unused() bool { return n.Empty() && !n.Abandoned }

// Capacity is what instances of the node's type have.
func (n *Node) Capacity(pools []*nodepool.Pool) corev1.ResourceList {
	t := pools[n.Pool].Table
	return t.Catalog.Variants[t.Rows[n.Row].Variant].Capacity
}

// Reservation is the reservation that the node uses; empty if it uses none.
func (n *Node) Reservation(pools []*nodepool.Pool) string {
	return pools[n.Pool].Table.Catalog.Slots[n.Slot].Reservation
}

// DecidedLabels are the labels decided for a new node, as far as rules or pods ask about them.
func DecidedLabels(pools []*nodepool.Pool, asked map[string]bool, node *Node, as *nodepool.Assignment) requirements.Set {
	labels := map[string]string{}
	for key := range asked {
		if v := pools[node.Pool].Label(int(node.Row), int(node.Slot), as, key); v != "" {
			labels[key] = v
		}
	}
	return requirements.FromLabels(labels)
}

// KnownLabels are DecidedLabels and what is known about undecided labels.
func KnownLabels(pools []*nodepool.Pool, asked map[string]bool, node *Node, as *nodepool.Assignment) requirements.Set {
	return pools[node.Pool].WithOpen(DecidedLabels(pools, asked, node, as), int(node.Row), as, asked)
}

// Open adds a new, empty node and returns its host number.
func (s *State) Open(node Node) int32 {
	node.Used, node.last = make([]int64, s.w.Dims), 0
	s.Limits.count(node.Pool, node.Capacity(s.w.Pools), 1)
	s.Limits.reserve(&node, 1)
	s.Planned = append(s.Planned, node)
	s.Log.note(change{kind: changeOpened})
	host := int32(len(s.w.Nodes) + len(s.Planned) - 1)
	if s.Topology != nil {
		seen := s.seenAs(&node)
		s.Topology.AddHostIn(seen.domains, seen.ignoredBy)
		s.placeResidents(&s.Planned[len(s.Planned)-1], 1)
	}
	return host
}

// seenByRules is a new node as rules see it: its domains, and the groups that ignore it.
type seenByRules struct{ domains, ignoredBy []int32 }

// seenAs is the node as rules see it. It is remembered for nodes whose labels follow from type and offering.
func (s *State) seenAs(node *Node) seenByRules {
	at := [3]int32{node.Pool, node.Row, node.Slot}
	if known, has := s.seen[at]; has && node.Labels.Len() == 0 {
		return known
	}
	as := nodepool.Assignment{Labels: node.Labels}
	out := seenByRules{
		domains:   s.Topology.DomainsOf(func(key string) string { return s.w.Pools[node.Pool].Label(int(node.Row), int(node.Slot), &as, key) }),
		ignoredBy: s.Topology.IgnoredBy(KnownLabels(s.w.Pools, s.w.Asked, node, &as), s.w.Pools[node.Pool].Taints),
	}
	if node.Labels.Len() == 0 {
		if s.seen == nil {
			s.seen = map[[3]int32]seenByRules{}
		}
		s.seen[at] = out
	}
	return out
}

// AbandonEmpty removes nodes without admitted pods from all counts: their domains, their pools' limits and their reservations are free
// again.
func (s *State) AbandonEmpty() {
	for i := range s.Planned {
		if node := &s.Planned[i]; node.Unused() {
			s.countNew(int32(i), -1)
			s.Log.note(change{changeAbandoned, int32(i), 0})
		}
	}
}

// countNew removes an empty node from all counts (n is -1), or adds it again (1).
func (s *State) countNew(i int32, n int) {
	node := &s.Planned[i]
	node.Abandoned = n < 0
	s.Limits.count(node.Pool, node.Capacity(s.w.Pools), int64(n))
	s.Limits.reserve(node, n)
	if s.Topology == nil {
		return
	}
	host := int32(len(s.w.Nodes)) + i
	if n > 0 {
		s.Topology.SetGone(host, false)
	}
	for _, class := range s.w.Pools[node.Pool].Table.Rows[node.Row].Residents {
		s.Topology.Place(s.w.Classes[class].Topology, host, int32(n))
	}
	if n < 0 {
		s.Topology.SetGone(host, true)
	}
}

// Exchange replaces new node i by another of its pool; it can be undone.
func (s *State) Exchange(i int32, other Node) {
	s.replaced = append(s.replaced, s.Planned[i])
	s.Log.note(change{changeMoved, i, 0})
	s.become(i, other)
}

// become replaces node i by another of its pool, with the same DaemonSet pods for rules, and in the same domains for rules about the pods
// on it.
func (s *State) become(i int32, other Node) {
	node := &s.Planned[i]
	s.Limits.count(node.Pool, node.Capacity(s.w.Pools), -1)
	relabelled := s.Topology != nil && (node.Row != other.Row || node.Slot != other.Slot || !node.Labels.Equal(other.Labels))
	node.Row, node.Slot, node.Price, node.Labels, node.Commitment = other.Row, other.Slot, other.Price, other.Labels, other.Commitment
	s.Limits.count(node.Pool, node.Capacity(s.w.Pools), 1)
	if relabelled {
		s.relabel(i)
	}
}

// relabel counts new node i by its present labels: it may be in other domains, and other spreads may include or ignore it.
func (s *State) relabel(i int32) {
	node := &s.Planned[i]
	host := int32(len(s.w.Nodes)) + i
	recount := func(n int32) {
		for at := node.last - 1; at >= 0; at = s.Placed[at].Before - 1 {
			if b := &s.Placed[at]; b.Count > 0 {
				s.Topology.Place(s.w.Classes[b.Class].Topology, host, n*b.Count)
			}
		}
		for _, class := range s.w.Pools[node.Pool].Table.Rows[node.Row].Residents {
			s.Topology.Place(s.w.Classes[class].Topology, host, n)
		}
	}
	seen := s.seenAs(node)
	if h := &s.Topology.Hosts[host]; slices.Equal(seen.domains, h.Domains) && slices.Equal(seen.ignoredBy, h.IgnoredBy) {
		return
	}
	recount(-1)
	s.Topology.Rejoin(host, seen.domains, seen.ignoredBy)
	recount(1)
}

// placeResidents counts the DaemonSet pods of a new node, the last host.
func (s *State) placeResidents(node *Node, n int32) {
	host := int32(len(s.Topology.Hosts) - 1)
	for _, class := range s.w.Pools[node.Pool].Table.Rows[node.Row].Residents {
		s.Topology.Place(s.w.Classes[class].Topology, host, n)
	}
}

// Filled counts the new nodes that have pods.
func (s *State) Filled() int {
	n := 0
	for i := range s.Planned {
		if !s.Planned[i].Empty() {
			n++
		}
	}
	return n
}
