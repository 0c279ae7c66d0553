package devices

import (
	"slices"
)

// countPartitions counts the units of devices that use counters. Devices that share a counter with a device of a varied kind are counted by
// the method part, which counts a set of devices that can be allocated together.
func (n *nodeUnits) countPartitions() {
	varied := kindSet{}
	for at := range n.list {
		if n.list[at].varied {
			varied.add(at)
		}
	}
	parted := map[int32]bool{}
	var list []int
	for i, set := range n.sets {
		if d := &n.inv.devices[i]; !set.empty() && !d.shared && len(d.consumes) > 0 {
			list = append(list, i)
			for _, c := range d.consumes {
				parted[c.counter] = parted[c.counter] || set.meets(varied)
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

// part counts all devices of the list if the counters are sufficient for all devices. If not, it counts a set of devices that can be
// allocated together. To choose this set, it adds one device for each kind in turn.
func (n *nodeUnits) part(list []int) {
	left := slices.Clone(n.u.left)
	fits := func(i int) bool {
		return !slices.ContainsFunc(n.inv.devices[i].consumes, func(c draw) bool { return left[c.counter] < c.amount })
	}
	for again := true; again; {
		again = false
		for at := range n.list {
			for _, i := range list {
				if !n.sets[i].has(at) || n.counted[i] > 0 || !fits(i) {
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
