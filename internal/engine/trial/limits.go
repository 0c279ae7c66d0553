package trial

import (
	"slices"

	"github.com/drawknife/drawknife/internal/engine/resources"
)

// SpareLimits returns the part of each pool's limits that the plan leaves unused, divided equally among the pool's new nodes for which
// counted returns true. A NodeClaim may name instance types that exceed the planned type by this share. Therefore the limits are kept even
// if the largest allowed type is launched for every NodeClaim. Nodes that are being removed count as existing nodes, because old and new
// nodes exist at the same time. The result is indexed by pool and then like the pool's limits. An entry is nil for pools without limits or
// without such nodes.
func (t *Trial) SpareLimits(counted func(i int) bool) [][]int64 {
	m := t.M
	out := make([][]int64, len(m.Pools))
	nodes := make([]int64, len(m.Pools))
	for i := range t.S.Planned {
		if mc := &t.S.Planned[i]; m.Pools[mc.Pool].Limits != nil && counted(i) {
			if nodes[mc.Pool]++; out[mc.Pool] == nil {
				out[mc.Pool] = slices.Clone(m.Pools[mc.Pool].Limits.Max)
			}
			resources.AddScaled(out[mc.Pool], m.Pools[mc.Pool].RowCost(int(mc.Row)), -1)
		}
	}
	for i := range m.Nodes {
		if n := &m.Nodes[i]; n.Pool >= 0 && out[n.Pool] != nil {
			resources.AddScaled(out[n.Pool], m.Pools[n.Pool].Limits.Cost(n.Capacity), -1)
		}
	}
	for pool, left := range out {
		for i := range left {
			left[i] = max(0, left[i]/nodes[pool])
		}
	}
	return out
}
