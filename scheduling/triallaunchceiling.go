package scheduling

import (
	"cmp"
	"slices"
)

// ceiling is the most that pods which wait are worth on a node by its room in one resource alone, those first that are worth most
// for what they ask of it, and of the last a part. Nearly all kinds of nodes are passed over by it, without going through the pods.
type ceiling struct {
	dim int
	// free is what pods are worth that ask for none of it; need and worth are sums over the first classes, that of none first.
	free        float64
	need, worth []float64
}

// newCeiling is that of the classes for the resource.
func newCeiling(dim int, classes []int32, t *Trial, w *Worth) ceiling {
	type load struct{ need, worth, density float64 }
	c := ceiling{dim: dim}
	loads := make([]load, 0, len(classes))
	for _, class := range classes {
		n, worth := float64(t.waiting[class]), float64(max(w.byClass[class], 1))
		if n == 0 {
			continue
		}
		if need := float64(t.m.classes[class].requests[dim]); need > 0 {
			loads = append(loads, load{n * need, n * worth, worth / need})
			continue
		}
		c.free += n * worth
	}
	slices.SortFunc(loads, func(a, b load) int { return cmp.Compare(b.density, a.density) })
	c.need, c.worth = make([]float64, 1, len(loads)+1), make([]float64, 1, len(loads)+1)
	need, worth := 0.0, 0.0
	for _, l := range loads {
		need, worth = need+l.need, worth+l.worth
		c.need, c.worth = append(c.need, need), append(c.worth, worth)
	}
	return c
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
