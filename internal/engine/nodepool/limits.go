package nodepool

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/internal/engine/resources"
)

// ResourceNodes is the resource name with which a NodePool limits its number of nodes.
const ResourceNodes corev1.ResourceName = "nodes"

// maxLimit is the largest limit; larger amounts don't limit the pool.
const maxLimit = 1 << 61

// Limits are a NodePool's limits in the units of the planner. Resources without a limit are left out.
type Limits struct {
	Names []corev1.ResourceName // sorted
	Max   []int64
	// Early is true for a pool that was created as v1alpha5: see Reached.
	Early bool
}

// NewLimits converts the list. It returns nil if the list has no limits.
func NewLimits(list corev1.ResourceList) (*Limits, error) {
	if len(list) == 0 {
		return nil, nil
	}
	l := &Limits{Names: resources.Sorted(list)}
	for _, name := range l.Names {
		q := list[name]
		if q.Sign() < 0 {
			return nil, fmt.Errorf("%s is %s: a limit can't be negative", name, q.String())
		}
		l.Max = append(l.Max, resources.UnitsDown(name, q, maxLimit))
	}
	return l, nil
}

// Cost returns the amounts that one node with the given capacity uses of the limits. Each node uses one unit of the limit "nodes".
func (l *Limits) Cost(capacity corev1.ResourceList) []int64 {
	out := make([]int64, len(l.Names))
	for i, name := range l.Names {
		if name == ResourceNodes {
			out[i] = 1
		} else if q, ok := capacity[name]; ok {
			out[i] = resources.Up(name, q)
		}
	}
	return out
}

// Allow reports whether a node with the given cost may join a pool with the given usage. If a pool exceeds any of its limits, or has used
// up its limit of nodes, it gets no new nodes.
func (l *Limits) Allow(used, cost []int64) bool {
	for i, u := range used {
		if u > l.Max[i] || u+cost[i] > l.Max[i] {
			return false
		}
	}
	return true
}

// Reached reports whether existing nodes use up the limit with index i of a pool that was created as v1alpha5. Early releases of Karpenter
// launched no more nodes for such a pool, not even nodes without that resource. Planned nodes do not count, because early releases did not
// count them. So a plan may reach a limit, as for any other pool. Early releases ignored a limit without usage, so a limit of 0 does not
// stop launches.
func (l *Limits) Reached(standing []int64, i int) bool {
	return l.Early && standing[i] > 0 && standing[i] >= l.Max[i]
}

// RowCost returns the amounts that a node of the row uses of the pool's limits.
func (p *Pool) RowCost(row int) []int64 {
	return p.Limits.Cost(p.Table.Catalog.Variants[p.Table.Rows[row].Variant].Capacity)
}
