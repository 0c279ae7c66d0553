package devices

import (
	"slices"
)

// Units are the free devices of a node, counted by the kinds that each device could serve. A device that can serve several claims at once
// counts as several units, one for each claim.
type Units struct {
	// by has, for each set of kinds, the number of units that could serve exactly these kinds. Units in groups are not included.
	by map[kindSet]int64
	// groups has the groups of devices that use the same counters, or are shared. A group computes how many of its devices can be allocated
	// together.
	groups counterGroups
	// present says, for each element of Kinds.presences, whether the node has the required devices.
	present []bool
	// varied says, for each varied kind (see kind.varied), how the node meets requests of this kind.
	varied map[int]share
	// choice has, by kind, the index of the first alternative that the node can meet, or -1 if it can meet no alternative. Kinds with one
	// alternative have no entry.
	choice map[int]int
}

// share says how a node meets requests of a varied kind. takes is the number of devices that a request takes. times is the number of such
// requests that the node can meet.
type share struct{ takes, times int64 }

// manyUnits is the largest number of units that one shared device counts as.
const manyUnits = 1 << 12

// nodeUnits computes the units of one node.
type nodeUnits struct {
	*Kinds
	u       *Usage
	inv     *Inventory
	reach   *Reach
	matches *Matches
	// sets has, for each device, the kinds that it could serve. counted has the number of units of each device.
	sets    []kindSet
	counted []int64
	// once marks devices that count as only one unit although they may be shared, because a claim must not get them twice.
	once []bool
	// takes has, by kind, the number of devices that a request takes on the node, or 0 if the request can't be met.
	takes []int
	// chosen has, for each varied kind, the chosen alternative, or nil. It is nil for other kinds.
	chosen []*alternative
	out    Units
}

// Units computes the units of a node. The usage is not changed.
func (k *Kinds) Units(u *Usage, reach *Reach, m *Matches) Units {
	inv := u.inventory
	n := &nodeUnits{
		Kinds: k, u: u, inv: inv, reach: reach, matches: m, sets: make([]kindSet, len(inv.devices)), counted: make([]int64, len(inv.devices)), once: make([]bool, len(inv.devices)),
		takes: make([]int, len(k.list)), chosen: make([]*alternative, len(k.list)),
		out: Units{by: map[kindSet]int64{}, present: make([]bool, len(k.presences)), varied: map[int]share{}, choice: map[int]int{}},
	}
	for i := range k.presences {
		n.out.present[i] = k.presences[i].met(inv, reach, m)
	}
	for at := range k.list {
		n.mark(at)
	}
	for at := range k.list {
		if k.list[at].bundle != "" && k.firstOf(at) {
			n.constrain(at)
			n.dropImpossible(at)
		}
	}
	n.countApart()
	n.countPartitions()
	n.countShared()
	n.countVaried()
	return n.out
}

// countVaried computes, for each varied kind, how many requests the node can meet.
func (n *nodeUnits) countVaried() {
	for at := range n.list {
		if !n.list[at].varied {
			continue
		}
		var have int64
		for i, set := range n.sets {
			if set.has(at) {
				have += n.counted[i]
			}
		}
		takes := int64(n.takes[at])
		s := share{takes: takes}
		switch {
		case takes == 0:
		case n.chosen[at].all:
			if have == takes {
				s.times = 1
			}
		default:
			s.times = have / takes
		}
		n.out.varied[at] = s
	}
}

// met reports whether at least p.count matching devices exist, including devices in use, and every selector can be evaluated.
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

// mark adds the kind to the sets of the free devices that could serve it. If a selector can't be evaluated for one of the node's devices,
// it adds the kind to no set, because the scheduler may refuse the node.
func (n *nodeUnits) mark(at int) {
	kind := &n.list[at]
	if len(kind.alternatives) > 1 {
		n.out.choice[at] = -1
	}
	for i, a := range kind.alternatives {
		free, ok := n.freeFor(a, kind.most)
		if !ok {
			for j := range n.sets {
				n.sets[j].remove(at)
			}
			n.takes[at] = 0
			return
		}
		if len(free) < a.wantedAtLeast() && len(kind.alternatives) > 1 {
			continue
		}
		if first, known := n.out.choice[at]; known && first < 0 {
			n.out.choice[at] = i
		}
		for _, j := range free {
			n.sets[j].add(at)
		}
		n.takes[at] = a.count
		if a.all {
			n.takes[at] = len(free)
		}
		if kind.varied {
			n.chosen[at] = a
			return
		}
	}
}

// freeFor returns the devices that the alternative can get. If the alternative asks for all devices, freeFor returns either all matching
// devices or none. It returns false if a selector can't be evaluated for one of the node's devices.
func (n *nodeUnits) freeFor(a *alternative, most int) ([]int32, bool) {
	matching := n.matches.of(n.inv, a)
	var out []int32
	missing := false
	for i := range matching.verdicts {
		v := &matching.verdicts[i]
		switch {
		case !n.reach.device(int32(i)):
		case v.err != nil:
			return nil, false
		case !v.matches():
		case !v.tainted && n.u.free(int32(i), matching.amounts[i]):
			out = append(out, int32(i))
		default:
			missing = true
		}
	}
	if a.all && (missing || len(out) > most || !n.poolsComplete()) {
		return nil, true
	}
	return out, true
}

// poolsComplete reports whether all devices of the node are known, because none of its pools is incomplete or invalid.
func (n *nodeUnits) poolsComplete() bool {
	for i := range n.inv.pools {
		if n.inv.pools[i].problem() != "" && n.reach.pool(i) {
			return false
		}
	}
	return true
}

// firstOf reports whether the kind is the first of its bundle.
func (k *Kinds) firstOf(at int) bool {
	for i := range at {
		if k.list[i].bundle == k.list[at].bundle {
			return false
		}
	}
	return true
}

// dropImpossible removes all devices from a bundle's kinds if the scheduler would not allocate the bundle's claim on the node. It checks
// this only if an alternative asks for all devices. In this case, the scheduler gives up and tries no other alternative if constraints
// exclude one of these devices.
func (n *nodeUnits) dropImpossible(first int) {
	kinds := kindSet{}
	all := false
	for at := range n.list {
		if n.list[at].bundle == n.list[first].bundle {
			kinds.add(at)
			all = all || slices.ContainsFunc(n.list[at].alternatives, func(a *alternative) bool { return a.all })
		}
	}
	if !all {
		return
	}
	if a, _ := Allocate([]Source{{Usage: n.u.Clone(), Reach: n.reach}}, []*Claim{n.list[first].claim}, n.matches); a != nil {
		return
	}
	for i := range n.sets {
		n.sets[i] = n.sets[i].without(kinds)
	}
	for at := range n.list {
		if kinds.has(at) {
			n.takes[at] = 0
		}
	}
}

// countApart counts the devices that use no counters and count as one unit. These are devices that are not shared, and devices that are
// marked in n.once.
func (n *nodeUnits) countApart() {
	for i, set := range n.sets {
		if d := &n.inv.devices[i]; !set.empty() && (!d.shared || n.once[i]) && len(d.consumes) == 0 {
			n.out.by[set]++
			n.counted[i] = 1
		}
	}
}
