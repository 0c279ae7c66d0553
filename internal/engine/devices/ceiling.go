package devices

import (
	"slices"
)

// Ceiling is an upper bound on how many requests the devices of a node can serve. Units (the type) never count more devices than can be
// allocated together. A ceiling never counts fewer devices than any set of claims could get. Upper bounds on the number of pods on a node
// must use ceilings. If no devices compete with each other, the amounts of units and ceiling are equal.
type Ceiling struct {
	// by is for devices that are not shared and use no counters. It has, for each set of kinds, the number of devices that could serve
	// exactly these kinds.
	by map[kindSet]int64
	// groups has a group for each set of devices that use the same counters, and a group for each shared device.
	groups counterGroups
	// present says, for each element of Kinds.presences, whether the node may have the required devices.
	present []bool
	// least has, for each varied kind (see kind.varied), the smallest number of devices that a request of this kind takes. It has no entry
	// for a kind whose requests the node can't meet.
	least map[int]int64
}

// manyShares is the number of claims that the ceiling assumes for a shared device whose number of claims is not limited. It exceeds the
// number of pods on a node.
const manyShares = 1 << 20

// ceilingOf holds the state while the ceiling of one node is computed.
type ceilingOf struct {
	*Kinds
	u       *Usage
	inv     *Inventory
	reach   *Reach
	matches *Matches
	// sets has, for each device, the kinds that it could serve. least has, for each shared device and kind, the smallest amount of each
	// capacity that a request of the kind takes.
	sets  []kindSet
	least []map[int][]int64
	out   Ceiling
}

// Ceiling computes the ceiling of a node. The usage is not changed.
func (k *Kinds) Ceiling(u *Usage, reach *Reach, m *Matches) Ceiling {
	inv := u.inventory
	c := &ceilingOf{
		Kinds: k, u: u, inv: inv, reach: reach, matches: m, sets: make([]kindSet, len(inv.devices)), least: make([]map[int][]int64, len(inv.devices)),
		out: Ceiling{by: map[kindSet]int64{}, least: map[int]int64{}},
	}
	for i := range k.presences {
		c.out.present = append(c.out.present, k.presences[i].mayBeMet(inv, reach, m))
	}
	for at := range k.list {
		for _, a := range k.list[at].alternatives {
			c.mark(at, a)
		}
	}
	for at := range k.list {
		c.constrain(at)
	}
	c.collect()
	return c.out
}

// mayBeMet is like met, but ignores devices for which a selector can't be evaluated, because kube-scheduler may never evaluate the selector
// for them.
func (p *presence) mayBeMet(inv *Inventory, reach *Reach, m *Matches) bool {
	matching, n := m.of(inv, p.alternative), 0
	for i := range matching.verdicts {
		if v := &matching.verdicts[i]; reach.device(int32(i)) && v.matches() && !v.tainted {
			n++
		}
	}
	return n >= p.count
}

// mark adds the kind to the set of each free device that could serve the kind by the given alternative.
func (c *ceilingOf) mark(at int, a *alternative) {
	matching := c.matches.of(c.inv, a)
	var free []int32
	for i := range matching.verdicts {
		v := &matching.verdicts[i]
		switch {
		case !c.reach.device(int32(i)) || !v.matches():
		case !v.tainted && c.u.free(int32(i), matching.amounts[i]):
			free = append(free, int32(i))
		case a.all:
			return
		}
	}
	if a.all && len(free) > c.list[at].most {
		return
	}
	if x := &c.list[at]; len(free) == 0 || (x.varied || x.bundle != "") && len(free) < a.wantedAtLeast() {
		return // too few devices: a request of a varied kind, or of a kind in a bundle, needs at least wantedAtLeast different devices
	}
	takes := int64(a.count)
	if a.all {
		takes = int64(len(free))
	}
	if known := c.out.least[at]; c.list[at].varied && (known == 0 || takes < known) {
		c.out.least[at] = takes
	}
	for _, i := range free {
		c.sets[i].add(at)
		if c.inv.devices[i].shared {
			c.lessen(i, at, matching.amounts[i])
		}
	}
}

// lessen lowers each entry of least[i][at] to the corresponding entry of amounts, if that entry is smaller. least[i][at] has the smallest
// amounts that a request of the kind takes of the shared device i.
func (c *ceilingOf) lessen(i int32, at int, amounts []int64) {
	if c.least[i] == nil {
		c.least[i] = map[int][]int64{}
	}
	known, ok := c.least[i][at]
	if !ok {
		c.least[i][at] = slices.Clone(amounts)
		return
	}
	for j := range known {
		known[j] = min(known[j], amounts[j])
	}
}

// constrain removes the kind from the sets of devices that constraints of its claim always exclude. These are devices without the
// constraint's attribute. If values must match and the kind is not varied, devices are also excluded if too few devices for one request
// have their value. Equal claims may have different values on one node, so devices with several values can remain.
func (c *ceilingOf) constrain(at int) {
	x := &c.list[at]
	if x.bundle == "" {
		return
	}
	for i := range x.claim.constraints {
		of := &x.claim.constraints[i]
		if slices.ContainsFunc(x.alternatives, func(a *alternative) bool { return !of.concerns(x.request, a) }) {
			continue
		}
		have := map[value]int{}
		for d := range c.sets {
			if c.sets[d].has(at) {
				have[c.inv.devices[d].attribute(of.attribute)]++
			}
		}
		for d := range c.sets {
			v := c.inv.devices[d].attribute(of.attribute)
			if v.kind == 0 || !of.distinct && !x.varied && have[v] < x.alternatives[0].count {
				c.sets[d].remove(at)
			}
		}
	}
}

// collect writes the devices to c.out. Devices that are not shared and use no counters are counted in c.out.by. All other devices are added
// to c.out.groups.
func (c *ceilingOf) collect() {
	var partitions, shared []int
	for i, set := range c.sets {
		switch d := &c.inv.devices[i]; {
		case set.empty():
		case d.shared:
			shared = append(shared, i)
		case len(d.consumes) == 0:
			c.out.by[set]++
		default:
			partitions = append(partitions, i)
		}
	}
	c.out.groups = groupsOf(c.inv, c.u.left, c.sets, partitions)
	for _, i := range shared {
		c.out.groups.add(c.sharedOf(i))
	}
}

// sharedOf represents a shared device as a group of devices that use its capacities. For each kind, the group has as many devices as fit if
// each of them takes the smallest amounts that a request of this kind takes. The method ignores counters that the shared device may use.
func (c *ceilingOf) sharedOf(i int) counterGroup {
	g := counterGroup{left: c.u.capacitiesLeft(i)}
	for _, at := range sortedKeys(c.least[i]) {
		if !c.sets[i].has(at) {
			continue
		}
		units := int64(manyShares)
		takes := slices.Clone(c.least[i][at])
		for len(takes) < len(g.left) {
			takes = append(takes, 0)
		}
		for j, amount := range takes {
			if amount > 0 {
				units = min(units, max(g.left[j], 0)/amount)
			}
		}
		if units > 0 {
			g.parts = append(g.parts, counterPart{only(at), takes, units})
		}
	}
	return g
}

// of returns an upper bound on the number of devices that requests of the kinds in the given set can get together.
func (c *Ceiling) of(set kindSet) int64 {
	sum := int64(0)
	for mask, n := range c.by {
		if mask.meets(set) {
			sum += n
		}
	}
	return min(sum+c.groups.of(set), Many)
}

// weigh returns the largest total weight of devices that can be allocated together. The weight of a device is the largest weight of the
// kinds that it could serve.
func (c *Ceiling) weigh(w *weighted) int64 {
	return min(w.ofMasks(c.by)+c.groups.weigh(w), Many)
}

// times returns the largest number of requests of a varied kind that can be met.
func (c *Ceiling) times(at int) int64 {
	if least := c.least[at]; least > 0 {
		return c.of(only(at)) / least
	}
	return 0
}

// Most returns the upper bound of each resource on a node with this ceiling: see Room.
func (c *Counts) Most(most *Ceiling, plugins map[string]int64) []int64 {
	out := make([]int64, len(c.names))
	plugged := kindSet{}
	for at := range c.kinds.list {
		if _, yes := plugins[c.kinds.list[at].resource]; yes {
			plugged.add(at)
		}
	}
	for i := range c.shares {
		w := c.shares[i].without(plugged)
		out[len(c.sets)+i] = min(most.weigh(&w)+c.pluggedIn(&c.shares[i], plugins), Many)
	}
	for i, set := range c.sets {
		if at := set.first(); c.kinds.list[at].varied && set == only(at) {
			out[i] = min(most.times(at)*c.weights[at], Many)
			continue
		}
		out[i] = most.of(set.without(plugged))
		for at := range set.all {
			if c.kinds.list[at].varied {
				out[i] += max(c.weights[at]-most.least[at], 0) * most.times(at)
			}
			out[i] += plugins[c.kinds.list[at].resource]
		}
		out[i] = min(out[i], Many)
	}
	for i := range c.kinds.presences {
		if most.present[i] {
			out[c.firstPresence()+i] = Many
		}
	}
	return out
}

// MostServed returns the largest amount of the extended resource that devices of a node with this ceiling can serve.
func (c *Counts) MostServed(most *Ceiling, resource string) int64 {
	var sum int64
	for at := range c.kinds.list {
		if c.kinds.list[at].resource == resource {
			sum += most.of(only(at))
		}
	}
	return sum
}
