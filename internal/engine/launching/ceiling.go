package launching

import (
	"cmp"
	"slices"
)

// ceiling is an upper bound on the value of the pending pods that a node can hold. It considers only one resource: it takes the pods with
// the highest value per unit of the resource first, and a fraction of the last pod. It excludes nearly all kinds of nodes without examining
// each pod.
type ceiling struct {
	dim int
	// free is the value of the pods that don't need the resource. need and worth are running sums over the lots that need the resource:
	// entry i is the sum over the first i of these lots.
	free        float64
	need, worth []float64
}

// lot describes the pods of one class for a ceiling: their total need, their total value, and the number of their demand.
type lot struct {
	need, worth, density float64
	demand               int32
}

// lotsOf returns the loads as lots, sorted by value per unit of the resource.
func lotsOf(dim int, loads []waitingLoad, into []lot) []lot {
	into = into[:0]
	for i := range loads {
		l := &loads[i]
		h := lot{worth: float64(l.most) * float64(l.worth), demand: l.demand}
		if need := float64(l.class.Requests[dim]); need > 0 {
			h.need, h.density = float64(l.most)*need, float64(l.worth)/need
		}
		into = append(into, h)
	}
	slices.SortFunc(into, func(a, b lot) int { return cmp.Compare(b.density, a.density) })
	return into
}

// fill computes the ceiling for the lots whose demands are in the set among, which has one bit for each demand.
func (c *ceiling) fill(dim int, lots []lot, among uint64) {
	c.dim, c.free = dim, 0
	c.need, c.worth = append(c.need[:0], 0), append(c.worth[:0], 0)
	need, worth := 0.0, 0.0
	for i := range lots {
		h := &lots[i]
		switch {
		case among&(1<<h.demand) == 0:
		case h.need == 0:
			c.free += h.worth
		default:
			need, worth = need+h.need, worth+h.worth
			c.need, c.worth = append(c.need, need), append(c.worth, worth)
		}
	}
}

// of returns the ceiling for a node with this allocatable, slightly raised so that rounding errors have no effect.
func (c *ceiling) of(alloc []int64) int64 {
	room := float64(alloc[c.dim])
	i, _ := slices.BinarySearch(c.need, room)
	sum := c.free
	switch {
	case i == 0: // the node has nothing of the resource, so only pods that don't need it count
	case i == len(c.need):
		sum += c.worth[i-1]
	default:
		sum += c.worth[i-1] + (c.worth[i]-c.worth[i-1])*(room-c.need[i-1])/(c.need[i]-c.need[i-1])
	}
	return int64(sum*(1+1e-9)) + 1
}
