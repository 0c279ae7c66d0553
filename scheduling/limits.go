package scheduling

import (
	"slices"

	"github.com/drawknife/drawknife/internal/engine/resources"
)

// allows reports whether a pool that uses so much may launch a node of the given cost: see limits.
func (t *Trial) allows(pool int32, used, cost []int64) bool {
	l := t.m.pools[pool].Limits
	for i := range l.Max {
		if l.Reached(t.standing[pool], i) {
			return false
		}
	}
	return l.Allow(used, cost)
}

// spareLimits is what the plan leaves of each pool's limits, in equal shares for the new nodes of the pool that are counted:
// their claims may name instance types that take so much more than the planned one, and all launched at their largest still keep
// the limits. Nodes on their way out are counted as there: old and new overlap. Indexed by pool, then like its limits; nil for
// pools without limits or without such nodes.
func (t *Trial) spareLimits(counted func(i int) bool) [][]int64 {
	m := t.m
	out := make([][]int64, len(m.pools))
	nodes := make([]int64, len(m.pools))
	for i := range t.machines {
		if mc := &t.machines[i]; m.pools[mc.pool].Limits != nil && counted(i) {
			if nodes[mc.pool]++; out[mc.pool] == nil {
				out[mc.pool] = slices.Clone(m.pools[mc.pool].Limits.Max)
			}
			resources.AddScaled(out[mc.pool], m.pools[mc.pool].RowCost(int(mc.row)), -1)
		}
	}
	for i := range m.nodes {
		if n := &m.nodes[i]; n.Pool >= 0 && out[n.Pool] != nil {
			resources.AddScaled(out[n.Pool], m.pools[n.Pool].Limits.Cost(n.Capacity), -1)
		}
	}
	for pool, left := range out {
		for i := range left {
			left[i] = max(0, left[i]/nodes[pool])
		}
	}
	return out
}
