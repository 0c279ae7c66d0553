package nodepool

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/internal/engine/resources"
)

// ResourceNodes is the name under which a NodePool limits how many nodes it may have.
const ResourceNodes corev1.ResourceName = "nodes"

// maxLimit bounds a limit: what is beyond it does not limit anything.
const maxLimit = 1 << 61

// Limits are a NodePool's, in planner units; resources it does not limit are not tracked.
type Limits struct {
	Names []corev1.ResourceName // sorted
	Max   []int64
	// Early are those of a pool that was born in the first generation: see Reached.
	Early bool
}

// NewLimits are those that the list states; nil for none.
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

// Cost is what one node with the given capacity takes from the limits; each node counts as one of nodes.
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

// Allow reports whether a node of the given cost may join a pool that uses so much. A pool that is over any of its
// limits is closed, and so is one whose node count is used up.
func (l *Limits) Allow(used, cost []int64) bool {
	for i, u := range used {
		if u > l.Max[i] || u+cost[i] > l.Max[i] {
			return false
		}
	}
	return true
}

// Reached reports whether nodes that are there use up a limit, by its place, of a pool that was born in the first
// generation: its early releases launched nothing more for such a pool, even what takes nothing of that resource. What is
// planned with them does not count, as it did not there: a plan may reach a limit, like that of any pool. A limit of which
// nothing is used was not looked at, so that one of 0 closes nothing.
func (l *Limits) Reached(standing []int64, i int) bool {
	return l.Early && standing[i] > 0 && standing[i] >= l.Max[i]
}

// RowCost is what one node of the row takes from the pool's limits.
func (p *Pool) RowCost(row int) []int64 {
	return p.Limits.Cost(p.Table.Catalog.Variants[p.Table.Rows[row].Variant].Capacity)
}
