package devices

import (
	"fmt"
)

// countShared counts the devices that several claims can share. Each device is counted as often as its capacities allow, for all kinds
// together. A device that could serve a varied kind is counted for only one of its kinds. The method varies this kind from device to
// device: it takes the first of the kinds for one such device, the second kind for the next such device, and so on.
func (n *nodeUnits) countShared() {
	turn := 0
	for i, set := range n.sets {
		d := &n.inv.devices[i]
		if set.empty() || !d.shared || n.once[i] && len(d.consumes) == 0 || len(d.consumes) > 0 && n.u.uses[i] == 0 {
			continue // a shared partition that no claim uses is not counted
		}
		if !n.anyVaried(set) {
			n.out.groups.add(n.sharedGroup(i, set))
			continue
		}
		skip := turn % set.count()
		turn++
		for range skip {
			set.remove(set.first())
		}
		at := set.first()
		if units := n.unitsOf(i, at); units > 0 {
			n.sets[i], n.counted[i] = only(at), units
			n.out.by[only(at)] += units
		} else {
			n.sets[i] = kindSet{}
		}
	}
}

func (n *nodeUnits) anyVaried(set kindSet) bool {
	for at := range set.all {
		if n.list[at].varied {
			return true
		}
	}
	return false
}

// sharedGroup represents a shared device as a group of devices that use its capacities. For each kind of the set, the group has as many
// devices as the capacity allows.
func (n *nodeUnits) sharedGroup(i int, set kindSet) counterGroup {
	g := counterGroup{left: n.u.capacitiesLeft(i)}
	for at := range set.all {
		if units := n.unitsOf(i, at); units > 0 {
			g.parts = append(g.parts, counterPart{only(at), n.takesOf(i, at), units})
		}
	}
	return g
}

// capacitiesLeft returns the remaining amount of each capacity of the shared device with index i.
func (u *Usage) capacitiesLeft(i int) []int64 {
	d := &u.inventory.devices[i]
	out := make([]int64, len(d.capacity))
	for j := range d.capacity {
		out[j] = d.capacity[j].value
		if u.consumed[i] != nil {
			out[j] -= u.consumed[i][j]
		}
	}
	return out
}

// takesOf returns the largest amounts of the shared device's capacities that a request of the kind takes with any of its alternatives.
func (n *nodeUnits) takesOf(i, at int) []int64 {
	out := make([]int64, len(n.inv.devices[i].capacity))
	for _, a := range n.list[at].alternatives {
		matching := n.matches.of(n.inv, a)
		if v := &matching.verdicts[i]; !v.matches() || v.tainted || n.chosen[at] != nil && n.chosen[at] != a {
			continue
		}
		for j, amount := range matching.amounts[i] {
			out[j] = max(out[j], amount)
		}
	}
	return out
}

// unitsOf returns how many requests of the kind the shared device has capacity for. It returns at most one if a request asks for several
// devices or for all devices, because a request gets each device only once.
func (n *nodeUnits) unitsOf(i, at int) int64 {
	units := int64(manyUnits)
	left := n.u.capacitiesLeft(i)
	for j, amount := range n.takesOf(i, at) {
		if amount > 0 {
			units = min(units, max(left[j], 0)/amount)
		}
	}
	if n.list[at].count > 1 || n.chosen[at] != nil && n.chosen[at].all {
		units = min(units, 1)
	}
	return units
}

// add adds a group, or increases the number of an equal group.
func (s *counterGroups) add(g counterGroup) {
	text := fmt.Sprint(g)
	for i := range s.list {
		if fmt.Sprint(s.list[i]) == text {
			s.times[i]++
			return
		}
	}
	s.list, s.times = append(s.list, g), append(s.times, 1)
}
