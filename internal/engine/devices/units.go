package devices

import (
	"math/bits"
)

// Units are the devices of a node that are free, by the kinds that each could serve. A device that can serve several claims at a time is
// as many units.
type Units struct {
	// by has the number of units by the set of kinds, one bit each.
	by map[uint64]int64
	// present says of each presence whether it is met.
	present []bool
}

// manyUnits is the most that one shared device counts for.
const manyUnits = 1 << 12

// Units finds the units of a node. The usage is not changed.
func (k *Kinds) Units(u *Usage, reach *Reach, m *Matches) Units {
	inv := u.inventory
	out := Units{by: map[uint64]int64{}, present: make([]bool, len(k.presences))}
	for i := range k.presences {
		out.present[i] = k.presences[i].met(inv, reach, m)
	}
	sets := make([]uint64, len(inv.devices))
	for at := range k.list {
		k.mark(at, sets, u, reach, m)
	}
	for at := range k.list {
		if k.list[at].bundle != "" && k.firstOf(at) {
			k.constrain(at, sets, inv)
		}
	}
	k.countApart(sets, inv, &out)
	k.countPartitions(sets, u, &out)
	k.countShared(sets, u, m, &out)
	return out
}

// met reports whether as many devices are there, in use or not.
func (p *presence) met(inv *Inventory, reach *Reach, m *Matches) bool {
	matching := m.of(inv, p.alternative)
	n := 0
	for i := range matching.verdicts {
		v := &matching.verdicts[i]
		if !reach.device(int32(i)) {
			continue
		}
		if v.err != nil {
			return false
		}
		if v.matches() && !v.tainted {
			n++
		}
	}
	return n >= p.count
}

// mark adds the kind to the sets of the free devices that could serve it: to none if a selector has no value for one of them, because then
// the scheduler may refuse the node.
func (k *Kinds) mark(at int, sets []uint64, u *Usage, reach *Reach, m *Matches) {
	matching := m.of(u.inventory, k.list[at].alternative)
	for i := range matching.verdicts {
		if reach.device(int32(i)) && matching.verdicts[i].err != nil {
			return
		}
	}
	for i := range matching.verdicts {
		v := &matching.verdicts[i]
		if reach.device(int32(i)) && v.matches() && !v.tainted && u.free(int32(i), matching.amounts[i]) {
			sets[i] |= 1 << at
		}
	}
}

// firstOf reports whether the kind is the first one of its bundle.
func (k *Kinds) firstOf(at int) bool {
	for i := range at {
		if k.list[i].bundle == k.list[at].bundle {
			return false
		}
	}
	return true
}

// constrain leaves the kinds of a bundle only devices of which any choice meets the constraints: those with the most useful value of an
// attribute that must match, and one for each value of an attribute that must differ.
func (k *Kinds) constrain(first int, sets []uint64, inv *Inventory) {
	claim := k.list[first].claim
	for _, distinct := range []bool{false, true} {
		for i := range claim.constraints {
			c := &claim.constraints[i]
			if c.distinct != distinct {
				continue
			}
			var kinds []int
			for at := range k.list {
				if x := &k.list[at]; x.bundle == k.list[first].bundle && c.concerns(x.request, x.alternative) {
					kinds = append(kinds, at)
				}
			}
			if distinct {
				k.keepOneEach(c, kinds, sets, inv)
			} else {
				k.keepBest(c, kinds, sets, inv)
			}
		}
	}
}

func (k *Kinds) keepOneEach(c *constraint, kinds []int, sets []uint64, inv *Inventory) {
	of := bitsOf(kinds)
	seen := map[value]bool{}
	for i := range sets {
		if sets[i]&of == 0 {
			continue
		}
		v := inv.devices[i].attribute(c.attribute)
		if v.kind == 0 || seen[v] || inv.devices[i].shared {
			sets[i] &^= of
		}
		seen[v] = true
	}
}

func (k *Kinds) keepBest(c *constraint, kinds []int, sets []uint64, inv *Inventory) {
	of := bitsOf(kinds)
	counts := map[value]map[int]int{}
	var order []value
	for i := range sets {
		v := inv.devices[i].attribute(c.attribute)
		if sets[i]&of == 0 || v.kind == 0 {
			continue
		}
		if counts[v] == nil {
			counts[v] = map[int]int{}
			order = append(order, v)
		}
		for _, at := range kinds {
			if sets[i]&(1<<at) != 0 {
				counts[v][at]++
			}
		}
	}
	// The value that the most claims could have.
	best, most := value{}, -1
	for _, v := range order {
		claims := manyUnits
		for _, at := range kinds {
			claims = min(claims, counts[v][at]/max(k.list[at].alternative.count, 1))
		}
		if claims > most {
			best, most = v, claims
		}
	}
	for i := range sets {
		if v := inv.devices[i].attribute(c.attribute); v.kind == 0 || v != best {
			sets[i] &^= of
		}
	}
}

func bitsOf(kinds []int) uint64 {
	var set uint64
	for _, at := range kinds {
		set |= 1 << at
	}
	return set
}

// countApart counts devices that nothing else depends on.
func (k *Kinds) countApart(sets []uint64, inv *Inventory, out *Units) {
	for i, set := range sets {
		if d := &inv.devices[i]; set != 0 && !d.shared && len(d.consumes) == 0 {
			out.by[set]++
		}
	}
}

// countPartitions counts devices that draw on counters: all that are wanted if the counters are enough for all, else some that can be had
// together, of each kind in turn.
func (k *Kinds) countPartitions(sets []uint64, u *Usage, out *Units) {
	inv := u.inventory
	left := append([]int64(nil), u.left...)
	fits := func(i int) bool {
		for _, c := range inv.devices[i].consumes {
			if left[c.counter] < c.amount {
				return false
			}
		}
		return true
	}
	taken := make([]bool, len(sets))
	take := func(i int) {
		for _, c := range inv.devices[i].consumes {
			left[c.counter] -= c.amount
		}
		taken[i] = true
		out.by[sets[i]]++
	}
	for again := true; again; {
		again = false
		for at := range k.list {
			for i, set := range sets {
				d := &inv.devices[i]
				if set&(1<<at) == 0 || taken[i] || d.shared || len(d.consumes) == 0 || !fits(i) {
					continue
				}
				take(i)
				again = true
				break
			}
		}
	}
}

// countShared counts devices that several claims can have: each for one kind, in turn, as often as its capacity allows.
func (k *Kinds) countShared(sets []uint64, u *Usage, m *Matches, out *Units) {
	turn := 0
	for i, set := range sets {
		d := &u.inventory.devices[i]
		if set == 0 || !d.shared || len(d.consumes) > 0 && u.uses[i] == 0 {
			continue // partitions that are shared as well are not counted
		}
		n := turn % bits.OnesCount64(set)
		turn++
		for range n {
			set &= set - 1
		}
		at := bits.TrailingZeros64(set)
		amounts := m.of(u.inventory, k.list[at].alternative).amounts[i]
		units := int64(manyUnits)
		for j, amount := range amounts {
			if amount <= 0 {
				continue
			}
			left := d.capacity[j].value
			if u.consumed[i] != nil {
				left -= u.consumed[i][j]
			}
			units = min(units, left/amount)
		}
		if k.list[at].count > 1 { // a request has each device once
			units = min(units, 1)
		}
		if units > 0 {
			out.by[1<<at] += units
		}
	}
}
