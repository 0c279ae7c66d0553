package nodepool

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/internal/engine/resources"
)

// ResourceNodes is the resource name with which a NodePool limits its number of nodes.
const ResourceNodes corev1.ResourceName = "nodes"

// maxLimit bounds a limit; larger amounts limit nothing.
const maxLimit = 1 << 61

// Limits are a NodePool's limits in planner units; resources without a limit are not tracked.
type Limits struct {
	Names []corev1.ResourceName // sorted
	Max   []int64
	// Early is true for a pool that was created as v1alpha5: see Reached.
	Early bool
}

// NewLimits converts the list, or nil if there is none.
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

// Cost returns what one node with the given capacity takes from the limits; each node counts as one of "nodes".
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

// Allow reports whether a node of the given cost may join a pool with the given usage. A pool that exceeds any of its limits gets no new
// nodes, and neither does one that has used up its node count.
func (l *Limits) Allow(used, cost []int64) bool {
	for i, u := range used {
		if u > l.Max[i] || u+cost[i] > l.Max[i] {
			return false
		}
	}
	return true
}

// Reached reports whether existing nodes use up limit number i of a pool that was created as v1alpha5. Its early releases launched nothing
// more for such a pool, not even nodes that need nothing of that resource. Planned nodes do not count, as they did not there: a plan may
// reach a limit, as for any other pool. A limit with no usage was ignored, so a limit of 0 closes nothing.
func (l *Limits) Reached(standing []int64, i int) bool {
	return l.Early && standing[i] > 0 && standing[i] >= l.Max[i]
}

// RowCost returns how much a node of the row uses of the pool's limits.
func (p *Pool) RowCost(row int) []int64 {
	return p.Limits.Cost(p.Table.Catalog.Variants[p.Table.Rows[row].Variant].Capacity)
}
