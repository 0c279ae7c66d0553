package scheduling

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/internal/engine/resources"
)

// resourceNodes is the name under which a NodePool limits how many machines it has.
const resourceNodes corev1.ResourceName = "nodes"

// maxLimit bounds a limit: what is beyond it does not limit anything.
const maxLimit = 1 << 61

// limits are a NodePool's, in planner units; resources it does not limit are not tracked.
type limits struct {
	names []corev1.ResourceName // sorted
	max   []int64
	// early are those of a pool that was born in the first generation: see reached.
	early bool
}

func newLimits(list corev1.ResourceList) (*limits, error) {
	if len(list) == 0 {
		return nil, nil
	}
	l := &limits{names: resources.Sorted(list)}
	for _, name := range l.names {
		q := list[name]
		if q.Sign() < 0 {
			return nil, fmt.Errorf("%s is %s: a limit can't be negative", name, q.String())
		}
		l.max = append(l.max, resources.UnitsDown(name, q, maxLimit))
	}
	return l, nil
}

// cost is what one machine with the given capacity takes from the limits; each machine counts as one of nodes.
func (l *limits) cost(capacity corev1.ResourceList) []int64 {
	out := make([]int64, len(l.names))
	for i, name := range l.names {
		if name == resourceNodes {
			out[i] = 1
		} else if q, ok := capacity[name]; ok {
			out[i] = resources.Up(name, q)
		}
	}
	return out
}

// allow reports whether a machine of the given cost may join a pool that uses so much. A pool that is over any of its
// limits is closed, and so is one whose machine count is used up.
func (l *limits) allow(used, cost []int64) bool {
	for i, u := range used {
		if u > l.max[i] || u+cost[i] > l.max[i] {
			return false
		}
	}
	return true
}

// reached reports whether machines that are there use up a limit, by its place, of a pool that was born in the first
// generation: its early releases launched nothing more for such a pool, even what takes nothing of that resource. What is
// planned with them does not count, as it did not there: a plan may reach a limit, like that of any pool. A limit of which
// nothing is used was not looked at, so that one of 0 closes nothing.
func (l *limits) reached(standing []int64, i int) bool {
	return l.early && standing[i] > 0 && standing[i] >= l.max[i]
}

// rowCost is what one machine of the row takes from the pool's limits.
func (p *pool) rowCost(row int) []int64 {
	return p.limits.cost(p.table.catalog.Variants[p.table.rows[row].variant].Capacity)
}
