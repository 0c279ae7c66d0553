package scheduling

import (
	"math"
	"slices"
)

// admits reports whether one more pod with the stake may go on the machine now.
func (s *topologyState) admits(o *ownership, shape int32, host int32) bool {
	if o == nil {
		return true
	}
	h := &s.hosts[host]
	if len(h.ignoredBy) > 0 && s.passedOver(o, h) {
		return false
	}
	var least func(int32) int32
	if s.binding && !s.looseHosts {
		least = s.leastOnHosts
	}
	return admitsHostAbove(s.m, o, h.of, least) > 0 && s.admitsDomains(o, shape, h.domains) && s.admitsAffinity(o, h.domains, h.of)
}

// passedOver reports whether a spread that pods with the stake must keep takes no notice of the machine. They could go on it
// only if it did: their own node affinity is the spread's filter. So the machine has a label that is still open, and what it
// will be is not known; nothing would count them there.
func (s *topologyState) passedOver(o *ownership, h *hostState) bool {
	for _, g := range o.owns {
		if group := &s.m.topology[g]; group.kind == kindSpread && group.hard && h.ignored(g) {
			return true
		}
	}
	return false
}

// admitsHost is how many pods with the stake one machine with the given counts may still take, as far as rules whose
// domains are machines go, affinity aside.
func admitsHost(m *Model, o *ownership, of func(group int32) tally) int {
	return admitsHostAbove(m, o, of, nil)
}

// admitsHostAbove is admitsHost where each machine is known to have at least some members of a group; nil for none.
func admitsHostAbove(m *Model, o *ownership, of func(group int32) tally, least func(group int32) int32) int {
	room := math.MaxInt
	for _, g := range o.owns {
		group := &m.topology[g]
		if group.at != hostnameKey || !group.hard {
			continue
		}
		self := contains(o.in, g)
		switch group.kind {
		case kindAnti:
			if of(g).members > 0 {
				return 0
			}
			if self {
				room = min(room, 1)
			}
		case kindSpread:
			// A machine without members can always be added, so the emptiest domain has none. When all are there, it
			// is the one with the fewest.
			left := int(group.maxSkew - of(g).members)
			if least != nil {
				left += int(least(g))
			}
			if self {
				room = min(room, max(left, 0))
			} else if left < 0 {
				return 0
			}
		}
	}
	for _, g := range o.in {
		group := &m.topology[g]
		if group.at != hostnameKey || !group.hard {
			continue
		}
		switch group.kind {
		case kindAnti:
			if of(g).owners > 0 {
				return 0
			}
		case kindExclusive:
			if of(g).members > 0 {
				return 0
			}
			room = min(room, 1)
		}
	}
	return room
}

// admitsDomains checks the rules whose domains are larger than a machine, affinity aside, for one more pod.
func (s *topologyState) admitsDomains(o *ownership, shape int32, domains []int32) bool {
	for _, g := range o.owns {
		group := &s.m.topology[g]
		if group.at == hostnameKey || !group.hard {
			continue
		}
		d := domains[group.at]
		switch group.kind {
		case kindAnti:
			if d != noDomain && countAt(s.members[g], d) > 0 {
				return false
			}
		case kindSpread:
			if d == noDomain || s.skewAfter(o, g, shape, d) > group.maxSkew {
				return false
			}
		case kindTogether:
			if s.total[g] > 0 && countAt(s.members[g], d) == 0 {
				return false
			}
		}
	}
	for _, g := range o.in {
		group := &s.m.topology[g]
		if group.at != hostnameKey && group.hard && group.kind == kindAnti {
			if d := domains[group.at]; d != noDomain && countAt(s.owners[g], d) > 0 {
				return false
			}
		}
	}
	return true
}

// skewAfter is what the spread's skew would be at domain d with one more pod.
func (s *topologyState) skewAfter(o *ownership, g, shape, d int32) int32 {
	count := countAt(s.members[g], d)
	if contains(o.in, g) {
		count++
	}
	return count - s.emptiest(g, shape)
}

// emptiest is the least number of members in any domain that counts: those with machines the group takes notice of,
// and those where the owner's shape could get a machine. With fewer domains in being than minDomains it is 0.
func (s *topologyState) emptiest(g, shape int32) int32 {
	group := &s.m.topology[g]
	least, inBeing := int32(math.MaxInt32), int32(0)
	for d, n := range s.present[g] {
		if n > 0 {
			inBeing++
			least = min(least, countAt(s.members[g], int32(d)))
		}
	}
	if inBeing < group.minDomains {
		return 0
	}
	if !s.binding {
		for _, d := range s.m.reachable(shape, group.at) {
			least = min(least, countAt(s.members[g], d))
		}
	}
	if least == math.MaxInt32 {
		return 0
	}
	return least
}

// leastOnHosts is the least number of members on any machine that the group takes notice of; 0 with fewer of them than
// minDomains.
func (s *topologyState) leastOnHosts(g int32) int32 {
	if known, ok := s.least[g]; ok {
		return known
	}
	least, seen := int32(math.MaxInt32), int32(0)
	for i := range s.hosts {
		if h := &s.hosts[i]; !h.gone && !h.ignored(g) {
			seen++
			least = min(least, h.of(g).members)
		}
	}
	if seen == 0 || seen < s.m.topology[g].minDomains {
		least = 0
	}
	if s.least == nil {
		s.least = map[int32]int32{}
	}
	s.least[g] = least
	return least
}

// admitsAffinity checks required pod affinity: each rule's domain has a member, or no member is anywhere and the pod is
// one itself.
func (s *topologyState) admitsAffinity(o *ownership, domains []int32, of func(group int32) tally) bool {
	met, first := true, true
	for _, g := range o.owns {
		group := &s.m.topology[g]
		if group.kind != kindAffinity || !group.hard {
			continue
		}
		members := int32(0)
		if group.at == hostnameKey {
			members = of(g).members
		} else {
			d := domains[group.at]
			if d == noDomain {
				return false
			}
			members = countAt(s.members[g], d)
		}
		met = met && members > 0
		first = first && s.total[g] == 0 && contains(o.in, g)
	}
	return met || first
}

func contains(sorted []int32, v int32) bool {
	_, ok := slices.BinarySearch(sorted, v)
	return ok
}
