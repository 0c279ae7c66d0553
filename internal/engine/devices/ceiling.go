package devices

import (
	"slices"
)

// Ceiling is what the devices of a node come to at most. Units never count more than can be had together; a ceiling never counts less than
// some set of claims could have. A bound on what nodes can hold has to go by it. Where nothing competes the two are the same.
type Ceiling struct {
	// by has the devices that nothing else depends on, by the set of kinds that each could serve.
	by map[kindSet]int64
	// groups are those that draw on the same counters, and each that several claims can have.
	groups counterGroups
	// present says of each presence whether it may be met.
	present []bool
	// least is, by kind that is varied, how many devices a request takes at least; 0 where it can't be met.
	least map[int]int64
}

// manyShares is what a shared device counts for that any number of claims can have: more than a node has pods.
const manyShares = 1 << 20

// ceilingOf finds the ceiling of one node.
type ceilingOf struct {
	*Kinds
	u       *Usage
	inv     *Inventory
	reach   *Reach
	matches *Matches
	// sets are the kinds that each device could serve, least what a request takes of its capacities.
	sets  []kindSet
	least []map[int][]int64
	out   Ceiling
}

// Ceiling finds the ceiling of a node. The usage is not changed.
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

// mayBeMet is met where a selector without a value for some device doesn't count: the scheduler may not come to that device.
func (p *presence) mayBeMet(inv *Inventory, reach *Reach, m *Matches) bool {
	matching, n := m.of(inv, p.alternative), 0
	for i := range matching.verdicts {
		if v := &matching.verdicts[i]; reach.device(int32(i)) && v.matches() && !v.tainted {
			n++
		}
	}
	return n >= p.count
}

// mark adds the kind to the sets of the free devices that could serve it by the alternative.
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
		return // a request has each device once; other kinds are of requests for different numbers
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

// lessen notes what a request of the kind takes of the shared device's capacities.
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

// constrain takes the kind off devices that the constraints of its claim exclude whatever else is allocated: those without the attribute,
// and those with a value that too few have. Claims that are alike may still have different values on one node.
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

// collect puts the devices together by what they depend on.
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

// sharedOf is a shared device as devices that draw on its capacities: as many for each kind as there is capacity for if each takes the least
// that a request of the kind does. That it may draw on counters plays no part.
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

// of is how many requests' devices of the kinds can be had at most.
func (c *Ceiling) of(set kindSet) int64 {
	sum := int64(0)
	for mask, n := range c.by {
		if mask.meets(set) {
			sum += n
		}
	}
	return min(sum+c.groups.of(set), Many)
}

// weigh is what the devices weigh at most that can be had together, each as the heaviest of the kinds that it could serve.
func (c *Ceiling) weigh(w *weighted) int64 {
	return min(w.ofMasks(c.by)+c.groups.weigh(w), Many)
}

// times is how many requests of a kind that is varied can be met at most.
func (c *Ceiling) times(at int) int64 {
	if least := c.least[at]; least > 0 {
		return c.of(only(at)) / least
	}
	return 0
}

// Most is what a node with this ceiling can have at most, by resource: see Room.
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

// MostServed is how many of the extended resource devices of a node with this ceiling can serve at most.
func (c *Counts) MostServed(most *Ceiling, resource string) int64 {
	var sum int64
	for at := range c.kinds.list {
		if c.kinds.list[at].resource == resource {
			sum += most.of(only(at))
		}
	}
	return sum
}
