package devices

import (
	"cmp"
	"math/bits"
	"slices"
)

// counterGroup is a set of devices that use the same counters, directly or through other devices. An example is a GPU with its partitions.
type counterGroup struct {
	left  []int64
	parts []counterPart
}

// counterPart is a set of equal devices of a group. It has the kinds that each device could serve, the amount of each of the group's
// counters that each device takes, and the number of devices.
type counterPart struct {
	set   kindSet
	takes []int64
	count int64
}

// counterGroups are the counter groups of a node. Equal groups are stored only once in list, and times has, for each group in list, the
// number of equal groups.
type counterGroups struct {
	list  []counterGroup
	times []int64
}

// groupsOf groups the devices whose indexes are in the list. Devices that share counters, directly or through other devices, are in one
// group. The parameter left has the remaining amount of each counter. The parameter sets has, for each device, the kinds that it could
// serve.
func groupsOf(inv *Inventory, left []int64, sets []kindSet, list []int) counterGroups {
	root := map[int32]int32{}
	find := func(counter int32) int32 {
		for root[counter] != counter {
			counter = root[counter]
		}
		return counter
	}
	for _, i := range list {
		for _, d := range inv.devices[i].consumes {
			if _, known := root[d.counter]; !known {
				root[d.counter] = d.counter
			}
			root[find(d.counter)] = find(inv.devices[i].consumes[0].counter)
		}
	}
	counters, members := map[int32][]int32{}, map[int32][]int{}
	for _, counter := range sortedKeys(root) {
		counters[find(counter)] = append(counters[find(counter)], counter)
	}
	for _, i := range list {
		of := find(inv.devices[i].consumes[0].counter)
		members[of] = append(members[of], i)
	}
	var out counterGroups
	for _, of := range sortedKeys(members) {
		g := counterGroup{}
		for _, counter := range counters[of] {
			g.left = append(g.left, left[counter])
		}
		for _, i := range members[of] {
			takes := make([]int64, len(g.left))
			for _, d := range inv.devices[i].consumes {
				takes[slices.Index(counters[of], d.counter)] = d.amount
			}
			g.add(sets[i], takes)
		}
		out.add(g)
	}
	return out
}

// add adds a device to the group.
func (g *counterGroup) add(set kindSet, takes []int64) {
	for i := range g.parts {
		if p := &g.parts[i]; p.set == set && slices.Equal(p.takes, takes) {
			p.count++
			return
		}
	}
	g.parts = append(g.parts, counterPart{set, takes, 1})
}

// masks returns, in ascending order, the sets of kinds that devices of the groups could serve.
func (s *counterGroups) masks() []kindSet {
	var out []kindSet
	for i := range s.list {
		for j := range s.list[i].parts {
			out = append(out, s.list[i].parts[j].set)
		}
	}
	slices.SortFunc(out, compareSets)
	return slices.Compact(out)
}

// of returns the maximum number of devices that can be allocated together, if each of them must serve at least one kind in set.
func (s *counterGroups) of(set kindSet) int64 {
	sum := int64(0)
	for i := range s.list {
		sum += s.times[i] * s.list[i].most(func(part kindSet) int64 {
			if part.meets(set) {
				return 1
			}
			return 0
		}).weight
	}
	return sum
}

// weigh returns the largest total weight of devices that can be allocated together.
func (s *counterGroups) weigh(w *weighted) int64 {
	sum := int64(0)
	for i := range s.list {
		sum += s.times[i] * s.list[i].most(w.heaviest).weight
	}
	return sum
}

// groupChoice is the choice of devices of a group that has the largest total weight.
type groupChoice struct {
	// weight is the total weight of the chosen devices. had[i] is the number of chosen devices of part i of the group. known is false if
	// the search could not try all combinations. In that case, weight is only an upper bound.
	weight int64
	had    []int64
	known  bool
}

// maxGroupSteps is the largest number of steps in the search for the best choice in a group. If more steps would be necessary, the result
// is only an upper bound: see restOf.
const maxGroupSteps = 4096

// most returns the choice of devices that can be allocated together and have the largest total weight. The call weigh(set) returns the
// weight of a device that could serve the kinds in the set.
func (g *counterGroup) most(weigh func(set kindSet) int64) groupChoice {
	s := groupSearch{left: slices.Clone(g.left), had: make([]int64, len(g.parts)), best: groupChoice{had: make([]int64, len(g.parts)), known: true}}
	for i := range g.parts {
		if weight := weigh(g.parts[i].set); weight > 0 {
			s.parts = append(s.parts, heavyPart{&g.parts[i], i, weight})
		}
	}
	s.parts = g.undominated(s.parts)
	slices.SortStableFunc(s.parts, func(a, b heavyPart) int { return cmp.Compare(g.density(&b), g.density(&a)) })
	s.sortCounters()
	s.ceiling = s.restOf(0)
	s.from(0, 0)
	if s.steps > maxGroupSteps {
		return groupChoice{weight: s.ceiling}
	}
	return s.best
}

// heavyPart is a part of a group, with its index in the group and the weight of each of its devices.
type heavyPart struct {
	*counterPart
	at     int
	weight int64
}

// density returns the weight of a device of the part, divided by the sum of the fractions that it takes of the counters' remaining amounts.
func (g *counterGroup) density(p *heavyPart) float64 {
	share := 0.0
	for j, n := range p.takes {
		share += float64(n) / float64(max(g.left[j], 1))
	}
	return float64(p.weight) / max(share, 1e-9)
}

// undominated removes a part with a single device if another part with a single device is never worse. That is so if the other part weighs
// at least as much, takes at most as much of each counter, and can't be allocated together with the removed part.
func (g *counterGroup) undominated(parts []heavyPart) []heavyPart {
	return slices.DeleteFunc(slices.Clone(parts), func(p heavyPart) bool {
		return p.count == 1 && slices.ContainsFunc(parts, func(q heavyPart) bool {
			return g.dominates(&q, &p) && (!g.dominates(&p, &q) || q.at < p.at)
		})
	})
}

func (g *counterGroup) dominates(q, p *heavyPart) bool {
	together := true
	for j, left := range g.left {
		if q.takes[j] > p.takes[j] {
			return false
		}
		together = together && p.takes[j]+q.takes[j] <= left
	}
	return q.at != p.at && q.count == 1 && q.weight >= p.weight && !together
}

// compareProducts compares a·b with c·d. No factor may be negative.
func compareProducts(a, b, c, d int64) int {
	high, low := bits.Mul64(uint64(a), uint64(b))
	otherHigh, otherLow := bits.Mul64(uint64(c), uint64(d))
	switch {
	case high < otherHigh || high == otherHigh && low < otherLow:
		return -1
	case high > otherHigh || low > otherLow:
		return 1
	}
	return 0
}

// groupSearch tries combinations of a group's devices that can be allocated together, to find the combination with the largest weight.
type groupSearch struct {
	parts []heavyPart
	left  []int64
	// counters has each counter alone, and each sum of counters whose remaining amounts are equal.
	counters []counterSum
	had      []int64
	best     groupChoice
	ceiling  int64
	steps    int
}

// counterSum is a set of counters that are treated as one counter, their sum. The field order has the indexes of the parts, sorted by
// descending weight per unit of the sum.
type counterSum struct {
	of    []int
	takes []int64
	order []int
}

// sortCounters sets s.counters. Each entry of s.counters gives an upper bound: see the method `by`.
func (s *groupSearch) sortCounters() {
	alike := map[int64][]int{}
	for j, left := range s.left {
		s.counters = append(s.counters, s.sumOf([]int{j}))
		alike[left] = append(alike[left], j)
	}
	for _, left := range sortedKeys(alike) {
		if len(alike[left]) > 1 {
			s.counters = append(s.counters, s.sumOf(alike[left]))
		}
	}
}

func (s *groupSearch) sumOf(counters []int) counterSum {
	out := counterSum{of: counters, takes: make([]int64, len(s.parts))}
	for i := range s.parts {
		for _, j := range counters {
			out.takes[i] += s.parts[i].takes[j]
		}
		out.order = append(out.order, i)
	}
	slices.SortStableFunc(out.order, func(a, b int) int {
		return compareProducts(s.parts[b].weight, out.takes[a], s.parts[a].weight, out.takes[b])
	})
	return out
}

// restOf returns an upper bound on the total weight of the devices that still fit, considering only parts with index >= at. Each entry of
// counters gives a bound. restOf returns the lowest of these bounds.
func (s *groupSearch) restOf(at int) int64 {
	most := int64(0)
	for i := at; i < len(s.parts); i++ {
		most += s.parts[i].weight * s.parts[i].count
	}
	for k := range s.counters {
		most = min(most, s.by(&s.counters[k], at))
	}
	return most
}

// by returns the upper bound of restOf that follows from the counters of c alone.
func (s *groupSearch) by(c *counterSum, at int) int64 {
	left := int64(0)
	for _, j := range c.of {
		left += max(s.left[j], 0)
	}
	sum := int64(0)
	for _, i := range c.order {
		if i < at {
			continue
		}
		p, n := &s.parts[i], s.parts[i].count
		if c.takes[i] > 0 {
			n = min(n, left/c.takes[i])
		}
		sum += n * p.weight
		left -= n * c.takes[i]
		if n < p.count {
			return sum + p.weight*left/c.takes[i] // the last device counts in part: the remaining amount is enough for a fraction of it
		}
	}
	return sum
}

// from continues the search with the part with index at. The parameter have is the total weight of the devices that are already chosen.
// Larger numbers of devices of a part are tried first.
func (s *groupSearch) from(at int, have int64) {
	if have > s.best.weight {
		s.best.weight = have
		copy(s.best.had, s.had)
	}
	s.steps++
	if at == len(s.parts) || s.best.weight == s.ceiling || s.steps > maxGroupSteps || have+s.restOf(at) <= s.best.weight {
		return
	}
	p := &s.parts[at]
	n := p.count
	for j, takes := range p.takes {
		if takes > 0 {
			n = min(n, max(s.left[j], 0)/takes)
		}
	}
	for ; n >= 0; n-- {
		s.take(p, n)
		s.from(at+1, have+n*p.weight)
		s.take(p, -n)
	}
}

func (s *groupSearch) take(p *heavyPart, n int64) {
	for j, takes := range p.takes {
		s.left[j] -= n * takes
	}
	s.had[p.at] += n
}
