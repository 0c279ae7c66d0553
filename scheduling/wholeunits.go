package scheduling

import (
	"cmp"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// A linear program packs pods in fractions, and fills nodes to the last millicore. Whole pods don't: where all of them ask for
// multiples of half a core, or for so little that it is no use to count, a node with 2.9 cores has five halves. Counted in whole
// units, each pod's request and each node's room rounded down, a resource is one more that nodes must have enough of: what fits on a
// node at all fits in whole units, since the sum of what is rounded down is no more than the sum rounded down. Proofs count the
// resources so in which the planned nodes are fuller then.
//
// Source: V. Chvátal, "Edmonds polytopes and a hierarchy of combinatorial problems", 1973; R. E. Gomory, 1958: rounding a
// constraint's coefficients down.

const (
	// maxUnitsPerResource and maxUnits bound in how many units resources are counted.
	maxUnitsPerResource = 2
	maxUnits            = 4
	// maxSizes is how many different requests for a resource are looked at as units.
	maxSizes = 64
	// fuller is by how much fuller planned nodes must be in whole units than in any resource.
	fuller = 0.005
)

// countWhole returns the items with their needs in whole units of resources before their needs of the caps, and the caps with
// those units. Problems without rules between pods have certificates of multipliers alone.
func (t *Trial) countWhole(items []item, caps []hostCap) ([]item, []hostCap) {
	if t.topology == nil {
		return items, caps
	}
	units := t.wholeUnits(items)
	if len(units) == 0 {
		return items, caps
	}
	if len(caps) > 0 {
		for k := range units {
			units[k].pressing = caps[0].pressing
		}
	}
	dims := t.m.resources.Len()
	out := slices.Clone(items)
	for i := range out {
		need := make([]int64, 0, dims+len(units)+len(caps))
		need = append(need, items[i].need[:dims]...)
		for k := range units {
			need = append(need, need[units[k].resource]/units[k].unit)
		}
		out[i].need = append(need, items[i].need[dims:]...)
	}
	return out, append(units, caps...)
}

// wholeUnits are the units in which the planned nodes are fullest, if that is fuller than they are in any resource.
func (t *Trial) wholeUnits(items []item) []hostCap {
	rooms := t.plannedRooms()
	least := 0.0
	for d := range t.m.resources.Len() {
		least = max(least, fullness(items, rooms, d, 1))
	}
	type found struct {
		cap  hostCap
		full float64
	}
	var units []found
	for d := range t.m.resources.Len() {
		var here []found
		for _, unit := range sizesOf(items, d) {
			if full := fullness(items, rooms, d, unit); full > least+fuller {
				here = append(here, found{hostCap{resource: d, unit: unit}, full})
			}
		}
		slices.SortStableFunc(here, func(a, b found) int { return cmp.Compare(b.full, a.full) })
		units = append(units, here[:min(len(here), maxUnitsPerResource)]...)
	}
	slices.SortStableFunc(units, func(a, b found) int { return cmp.Compare(b.full, a.full) })
	var out []hostCap
	for _, u := range units[:min(len(units), maxUnits)] {
		out = append(out, u.cap)
	}
	return out
}

// roomOf is the room of so many nodes.
type roomOf struct {
	alloc []int64
	nodes int64
}

// plannedRooms are the rooms of the planned nodes, those of one pool's row together.
func (t *Trial) plannedRooms() []roomOf {
	type row struct{ pool, row int32 }
	var out []roomOf
	at := map[row]int{}
	for _, planned := range t.machines {
		k := row{planned.pool, planned.row}
		n, known := at[k]
		if !known {
			n = len(out)
			at[k] = n
			out = append(out, roomOf{alloc: t.m.pools[k.pool].Table.AllocOf(int(k.row), t.m.resources.Len())})
		}
		out[n].nodes++
	}
	return out
}

// fullness is which part of the rooms the items need, counted in whole units of a resource; 0 where there is no room.
func fullness(items []item, rooms []roomOf, dim int, unit int64) float64 {
	need, have := 0.0, 0.0
	for i := range items {
		need += float64(items[i].need[dim]/unit) * float64(items[i].count)
	}
	for _, r := range rooms {
		have += float64(max(r.alloc[dim], 0)/unit) * float64(r.nodes)
	}
	if have == 0 {
		return 0
	}
	return need / have
}

// sizesOf are the items' different needs of a resource, ascending, 1 and 0 aside; nil if they are more than maxSizes.
func sizesOf(items []item, dim int) []int64 {
	var out []int64
	for i := range items {
		n := items[i].need[dim]
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

// on is how much of the cap a node with that room has.
func (c *hostCap) on(alloc []int64) int64 {
	if c.unit > 0 {
		return max(alloc[c.resource], 0) / c.unit
	}
	return c.amount
}

// rule is what a certificate says of the cap.
func (c *hostCap) rule(m *Model, name string) CertificateRule {
	if c.unit == 0 {
		return CertificateRule{Name: name, Rule: c.sentence(m), Amount: c.amount}
	}
	of := m.resources.Names[c.resource]
	unit := resource.NewQuantity(c.unit, resource.BinarySI)
	if of == corev1.ResourceCPU {
		unit = resource.NewMilliQuantity(c.unit, resource.DecimalSI)
	}
	return CertificateRule{Name: name, Rule: fmt.Sprintf("%s in whole units of %s, rounded down", of, unit), Resource: of, Unit: *unit}
}
