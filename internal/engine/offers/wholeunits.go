package offers

import (
	"cmp"
	"slices"

	"github.com/drawknife/drawknife/internal/engine/pricing"
)

// A linear program packs pods in fractions, and fills nodes to the last millicore. Whole pods often can't fill a node completely. For
// example, if all pods request multiples of half a core, or negligible amounts, a node with 2.9 cores holds only five half cores. A
// resource counted in whole units is an additional resource, for which each pod's request and each node's room are rounded down to whole
// units. Pods that fit on a node also fit if they are counted in whole units, because the sum of the rounded amounts is at most the rounded
// sum. Proofs count a resource in whole units if the planned nodes are fuller when measured in these units.
//
// Source: V. Chvátal, "Edmonds polytopes and a hierarchy of combinatorial problems", 1973; R. E. Gomory, 1958: rounding a
// constraint's coefficients down.

const (
	// maxUnitsPerResource and maxUnits limit the number of units in which resources are counted.
	maxUnitsPerResource = 2
	maxUnits            = 4
	// maxSizes is the maximum number of distinct requests for a resource: if there are more, none of them is tried as a unit.
	maxSizes = 64
	// fuller is the amount by which the nodes' fullness in whole units must exceed their fullness in every resource. Fullness is a share
	// between 0 and 1.
	fuller = 0.005
)

// CountWhole returns the items and caps with whole units of resources added. In the items, needs in whole units come before the needs of
// the caps. rooms are the rooms of the planned nodes, and dims is the number of resources.
func CountWhole(items []pricing.Item, caps []Cap, rooms []Room, dims int) ([]pricing.Item, []Cap) {
	units := wholeUnits(items, rooms, dims)
	if len(units) == 0 {
		return items, caps
	}
	if len(caps) > 0 {
		for k := range units {
			units[k].pressing = caps[0].pressing
		}
	}
	out := slices.Clone(items)
	for i := range out {
		need := make([]int64, 0, dims+len(units)+len(caps))
		need = append(need, items[i].Need[:dims]...)
		for k := range units {
			need = append(need, need[units[k].Resource]/units[k].Unit)
		}
		out[i].Need = append(need, items[i].Need[dims:]...)
	}
	return out, append(units, caps...)
}

// wholeUnits returns the units in which the planned nodes are fullest. It returns only units in which the nodes are fuller than in any
// resource, by more than the constant fuller.
func wholeUnits(items []pricing.Item, rooms []Room, dims int) []Cap {
	least := 0.0
	for d := range dims {
		least = max(least, fullness(items, rooms, d, 1))
	}
	type found struct {
		cap  Cap
		full float64
	}
	var units []found
	for d := range dims {
		var here []found
		for _, unit := range sizesOf(items, d) {
			if full := fullness(items, rooms, d, unit); full > least+fuller {
				here = append(here, found{Cap{Resource: d, Unit: unit}, full})
			}
		}
		slices.SortStableFunc(here, func(a, b found) int { return cmp.Compare(b.full, a.full) })
		units = append(units, here[:min(len(here), maxUnitsPerResource)]...)
	}
	slices.SortStableFunc(units, func(a, b found) int { return cmp.Compare(b.full, a.full) })
	var out []Cap
	for _, u := range units[:min(len(units), maxUnits)] {
		out = append(out, u.cap)
	}
	return out
}

// Room is the room of several equal nodes.
type Room struct {
	Alloc []int64
	Nodes int64
}

// fullness returns the share of the rooms that the items need, counted in whole units of a resource. It is 0 if there is no room.
func fullness(items []pricing.Item, rooms []Room, dim int, unit int64) float64 {
	need, have := 0.0, 0.0
	for i := range items {
		need += float64(items[i].Need[dim]/unit) * float64(items[i].Count)
	}
	for _, r := range rooms {
		have += float64(max(r.Alloc[dim], 0)/unit) * float64(r.Nodes)
	}
	if have == 0 {
		return 0
	}
	return need / have
}

// sizesOf returns the items' distinct needs of a resource, in ascending order, without 0 and 1. It returns nil if there are more than
// maxSizes distinct needs.
func sizesOf(items []pricing.Item, dim int) []int64 {
	var out []int64
	for i := range items {
		n := items[i].Need[dim]
		if n <= 1 {
			continue
		}
		if at, known := slices.BinarySearch(out, n); !known {
			if len(out) == maxSizes {
				return nil
			}
			out = slices.Insert(out, at, n)
		}
	}
	return out
}

// on returns the amount of the cap that a node with this room has.
func (c *Cap) on(alloc []int64) int64 {
	if c.Unit > 0 {
		return max(alloc[c.Resource], 0) / c.Unit
	}
	return c.Amount
}
