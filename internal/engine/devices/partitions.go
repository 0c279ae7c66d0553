package devices

import (
	"math/bits"
	"slices"
)

// countPartitions finds the devices that draw on counters. Of those that varied kinds want some are counted that can be had together.
func (n *nodeUnits) countPartitions() {
	varied := uint64(0)
	for at := range n.list {
		if n.list[at].varied {
			varied |= 1 << at
		}
	}
	parted := map[int32]bool{}
	var list []int
	for i, set := range n.sets {
		if d := &n.inv.devices[i]; set != 0 && !d.shared && len(d.consumes) > 0 {
			list = append(list, i)
			for _, c := range d.consumes {
				parted[c.counter] = parted[c.counter] || set&varied != 0
			}
		}
	}
	var apart, together []int
	for _, i := range list {
		if slices.ContainsFunc(n.inv.devices[i].consumes, func(c draw) bool { return parted[c.counter] }) {
			apart = append(apart, i)
		} else {
			together = append(together, i)
		}
	}
	n.out.groups = groupsOf(n.inv, n.u.left, n.sets, together)
	n.part(apart)
}

// part counts all of the devices if counters suffice for all, else some that can be had together, of each kind in turn.
func (n *nodeUnits) part(list []int) {
	left := slices.Clone(n.u.left)
	fits := func(i int) bool {
		return !slices.ContainsFunc(n.inv.devices[i].consumes, func(c draw) bool { return left[c.counter] < c.amount })
	}
	for again := true; again; {
		again = false
		for at := range n.list {
			for _, i := range list {
				if n.sets[i]&(1<<at) == 0 || n.counted[i] > 0 || !fits(i) {
					continue
				}
				for _, c := range n.inv.devices[i].consumes {
					left[c.counter] -= c.amount
				}
				n.counted[i] = 1
				n.out.by[n.sets[i]]++
				again = true
				break
			}
		}
	}
}

// countShared counts devices that several claims can have: each for one kind, in turn, as often as its capacity allows.
func (n *nodeUnits) countShared() {
	turn := 0
	for i, set := range n.sets {
		d := &n.inv.devices[i]
		if set == 0 || !d.shared || len(d.consumes) > 0 && n.u.uses[i] == 0 {
			continue // partitions that are shared as well are not counted
		}
		skip := turn % bits.OnesCount64(set)
		turn++
		for range skip {
			set &= set - 1
		}
		at := bits.TrailingZeros64(set)
		units := n.unitsOf(i, at)
		if n.list[at].count > 1 || n.chosen[at] != nil && n.chosen[at].all { // a request has each device once
			units = min(units, 1)
		}
		if units > 0 {
			n.sets[i], n.counted[i] = 1<<at, units
			n.out.by[1<<at] += units
		} else {
			n.sets[i] = 0
		}
	}
}

// unitsOf is how many requests of the kind the shared device has capacity for.
func (n *nodeUnits) unitsOf(i, at int) int64 {
	units := int64(0)
	d := &n.inv.devices[i]
	for _, a := range n.list[at].alternatives {
		matching := n.matches.of(n.inv, a)
		if v := &matching.verdicts[i]; !v.matches() || v.tainted || n.chosen[at] != nil && n.chosen[at] != a {
			continue
		}
		times := int64(manyUnits)
		for j, amount := range matching.amounts[i] {
			if amount <= 0 {
				continue
			}
			left := d.capacity[j].value
			if n.u.consumed[i] != nil {
				left -= n.u.consumed[i][j]
			}
			times = min(times, left/amount)
		}
		if units == 0 || times < units { // whichever of them it will serve
			units = times
		}
	}
	return units
}
