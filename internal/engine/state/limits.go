package state

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/internal/engine/existing"
	"github.com/drawknife/drawknife/internal/engine/nodepool"
	"github.com/drawknife/drawknife/internal/engine/resources"
)

// countNode adds a node that is there, or takes it away again.
func (s *State) countNode(n *existing.Node, times int64) {
	s.count(n.Pool, n.Capacity, times)
	if n.Pool >= 0 && s.Standing[n.Pool] != nil {
		resources.AddScaled(s.Standing[n.Pool], s.w.Pools[n.Pool].Limits.Cost(n.Capacity), times)
	}
}

// count adds nodes of the given capacity to a pool's usage.
func (s *State) count(pool int32, capacity corev1.ResourceList, n int64) {
	if pool < 0 || s.w.Pools[pool].Limits == nil {
		return
	}
	resources.AddScaled(s.Usage[pool], s.w.Pools[pool].Limits.Cost(capacity), n)
}

// Allows reports whether a pool that uses so much may launch a node of the given cost.
func (s *State) Allows(pool int32, used, cost []int64) bool {
	l := s.w.Pools[pool].Limits
	for i := range l.Max {
		if l.Reached(s.Standing[pool], i) {
			return false
		}
	}
	return l.Allow(used, cost)
}

// Affordable reports whether the pool's limits allow one more node of the row.
func (s *State) Affordable(pool, row int32) bool {
	p := s.w.Pools[pool]
	if p.Limits == nil {
		return true
	}
	return s.Allows(pool, s.Usage[pool], p.RowCost(int(row)))
}

// Spare is the most that a node may take from its pool's limits in place of node; nil for no limit.
func (s *State) Spare(node *Node) []int64 {
	p := s.w.Pools[node.Pool]
	if p.Limits == nil {
		return nil
	}
	most := slices.Clone(p.RowCost(int(node.Row)))
	for i, used := range s.Usage[node.Pool] {
		most[i] += max(p.Limits.Max[i]-used, 0)
	}
	return most
}

// Reservable reports whether the slot's reservation has room for one more node.
func (s *State) Reservable(pool, row, slot int32) bool {
	return Reservable(s.w.Pools, pool, row, slot, s.Reserved)
}

// Reservable reports whether the slot's reservation has room for one more node besides those taken.
func Reservable(pools []*nodepool.Pool, pool, row, slot int32, taken map[string]int) bool {
	t := pools[pool].Table
	id := t.Catalog.Slots[slot].Reservation
	return id == "" || taken[id] < t.Catalog.Reservations[id]
}

// reserve takes instances of the node's reservation, if it has one.
func (s *State) reserve(node *Node, n int) {
	if id := node.Reservation(s.w.Pools); id != "" {
		if s.Reserved == nil {
			s.Reserved = map[string]int{}
		}
		s.Reserved[id] += n
	}
}
