package launching

import (
	"cmp"
	"slices"
)

// ceiling is the most that pods which wait are worth on a node by its room in one resource alone, those first that are worth most
// for what they ask of it, and of the last a part. Nearly all kinds of nodes are passed over by it, without going through the pods.
type ceiling struct {
	dim int
	// free is what pods are worth that ask for none of it; need and worth are sums over the first pods, that of none first.
	free        float64
	need, worth []float64
}

// lot is pods of one class as a ceiling sees them: what they ask for together, what they are worth, and the number of their demand.
type lot struct {
	need, worth, density float64
	demand               int32
}

// lotsOf are the loads by what they are worth for what they ask of the resource.
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

// fill makes it the ceiling of those lots whose demands are among these, by number.
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

// of is the ceiling for a node with so much of the resource, a little above it so that rounding does not matter.
func (c *ceiling) of(alloc []int64) int64 {
	room := float64(alloc[c.dim])
	i, _ := slices.BinarySearch(c.need, room)
	sum := c.free
	switch {
	case i == 0: // no room at all
	case i == len(c.need):
		sum += c.worth[i-1]
	default:
		sum += c.worth[i-1] + (c.worth[i]-c.worth[i-1])*(room-c.need[i-1])/(c.need[i]-c.need[i-1])
	}
	return int64(sum*(1+1e-9)) + 1
}
