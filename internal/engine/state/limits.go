package state

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/internal/engine/existing"
	"github.com/drawknife/drawknife/internal/engine/nodepool"
	"github.com/drawknife/drawknife/internal/engine/resources"
)

// Limits counts the used resources of pools with limits, and the used instances of reservations.
type Limits struct {
	pools []*nodepool.Pool
	// Usage is indexed by pool, and then like the pool's limits. It has the total capacity of the pool's nodes, including new nodes and
	// without hidden nodes.
	Usage [][]int64
	// Standing has the amounts of Usage without the new nodes. Its entry is nil for pools that don't need it (see nodepool.Limits.Reached).
	Standing [][]int64
	// Reserved has the number of used instances of each reservation.
	Reserved map[string]int
}

func newLimits(pools []*nodepool.Pool) Limits {
	l := Limits{pools: pools, Usage: make([][]int64, len(pools)), Standing: make([][]int64, len(pools))}
	for i, p := range pools {
		if p.Limits == nil {
			continue
		}
		l.Usage[i] = make([]int64, len(p.Limits.Names))
		if p.Limits.Early {
			l.Standing[i] = make([]int64, len(p.Limits.Names))
		}
	}
	return l
}

// countNode adds an existing node to its pool's usage (times is 1), or removes it (times is -1).
func (l *Limits) countNode(n *existing.Node, times int64) {
	l.count(n.Pool, n.Capacity, times)
	if n.Pool >= 0 && l.Standing[n.Pool] != nil {
		resources.AddScaled(l.Standing[n.Pool], l.pools[n.Pool].Limits.Cost(n.Capacity), times)
	}
}

// count adds n nodes of the given capacity to a pool's usage, or removes them if n is negative.
func (l *Limits) count(pool int32, capacity corev1.ResourceList, n int64) {
	if pool < 0 || l.pools[pool].Limits == nil {
		return
	}
	resources.AddScaled(l.Usage[pool], l.pools[pool].Limits.Cost(capacity), n)
}

// countNew adds a new node to its pool's usage (n is 1), or removes it (n is -1).
func (l *Limits) countNew(node *Node, n int) {
	l.count(node.Pool, node.Capacity(l.pools), int64(n))
	l.reserve(node, n)
}

// Allows reports whether the pool's limits allow another node if the pool's usage is used and the node adds the amounts cost.
func (l *Limits) Allows(pool int32, used, cost []int64) bool {
	limits := l.pools[pool].Limits
	for i := range limits.Max {
		if limits.Reached(l.Standing[pool], i) {
			return false
		}
	}
	return limits.Allow(used, cost)
}

// Affordable reports whether the pool's limits allow one more node of the instance type in the table's row.
func (l *Limits) Affordable(pool, row int32) bool {
	p := l.pools[pool]
	if p.Limits == nil {
		return true
	}
	return l.Allows(pool, l.Usage[pool], p.RowCost(int(row)))
}

// Spare returns the maximum amounts of the pool's limits that another node in place of node may use, or nil if the pool has no limits.
func (l *Limits) Spare(node *Node) []int64 {
	p := l.pools[node.Pool]
	if p.Limits == nil {
		return nil
	}
	most := slices.Clone(p.RowCost(int(node.Row)))
	for i, used := range l.Usage[node.Pool] {
		most[i] += max(p.Limits.Max[i]-used, 0)
	}
	return most
}

// Reservable reports whether the reservation of the offering in the slot has an instance left for one more node. It also returns true if
// the slot has no reservation.
func (l *Limits) Reservable(pool, row, slot int32) bool {
	return Reservable(l.pools, pool, row, slot, l.Reserved)
}

// Reservable reports whether the reservation of the slot has an instance left. The parameter taken has the number of used instances of each
// reservation.
func Reservable(pools []*nodepool.Pool, pool, row, slot int32, taken map[string]int) bool {
	t := pools[pool].Table
	id := t.Catalog.Slots[slot].Reservation
	return id == "" || taken[id] < t.Catalog.Reservations[id]
}

// reserve adds n to the number of used instances of the node's reservation, if the node has a reservation.
func (l *Limits) reserve(node *Node, n int) {
	if id := node.Reservation(l.pools); id != "" {
		if l.Reserved == nil {
			l.Reserved = map[string]int{}
		}
		l.Reserved[id] += n
	}
}
