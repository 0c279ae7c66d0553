package topology

import (
	"math"
	"slices"
)

// Admits reports whether the rules between pods now allow one more pod with the topology groups o on the node.
func (s *State) Admits(o *Groups, shape int32, host int32) bool {
	if o == nil {
		return true
	}
	h := &s.Hosts[host]
	if len(h.IgnoredBy) > 0 && s.passedOver(o, h) {
		return false
	}
	var least func(int32) int32
	if s.Binding && !s.LooseHosts {
		least = s.leastOnHosts
	}
	return AdmitsHostAbove(s.groups, o, h.Of, least) > 0 && s.AdmitsDomains(o, shape, h.Domains) && s.AdmitsAffinity(o, h.Domains, h.Of)
}

// passedOver reports whether a spread that the pods must keep ignores the node. The spread filters nodes by the pods' own node affinity, so
// pods that fit on a node are normally counted there. If the spread ignores the node nevertheless, the node has a label whose value is not
// decided yet, and the spread would not count pods there.
func (s *State) passedOver(o *Groups, h *Host) bool {
	for _, g := range o.Owns {
		if group := &s.groups[g]; group.Kind == Spread && group.Hard && h.Ignored(g) {
			return true
		}
	}
	return false
}

// AdmitsHost returns how many more pods with the topology groups o a node may take. The third parameter is a function that returns the
// node's pod counts of a group. AdmitsHost checks the rules whose domains are nodes, except for affinity.
func AdmitsHost(groups []Group, o *Groups, of func(group int32) Tally) int {
	return AdmitsHostAbove(groups, o, of, nil)
}

// AdmitsHostAbove is like AdmitsHost, but also calls least(group), which returns the lowest number of members of a group on any node. The
// function may be nil.
func AdmitsHostAbove(groups []Group, o *Groups, of func(group int32) Tally, least func(group int32) int32) int {
	room := math.MaxInt
	for _, g := range o.Owns {
		group := &groups[g]
		if group.At != Hostname || !group.Hard {
			continue
		}
		self := Contains(o.In, g)
		switch group.Kind {
		case Anti:
			if of(g).Members > 0 {
				return 0
			}
			if self {
				room = min(room, 1)
			}
		case Spread:
			// An empty node can always be added, so the emptiest domain has no members. If least is not nil, no node can be added, and the
			// emptiest domain is the node with the fewest members.
			left := int(group.MaxSkew - of(g).Members)
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
	for _, g := range o.In {
		group := &groups[g]
		if group.At != Hostname || !group.Hard {
			continue
		}
		switch group.Kind {
		case Anti:
			if of(g).owners > 0 {
				return 0
			}
		case Exclusive:
			if of(g).Members > 0 {
				return 0
			}
			room = min(room, 1)
		}
	}
	return room
}

// AdmitsDomains reports whether the rules whose domains are larger than a node allow one more pod in the given domains. It does not check
// affinity.
func (s *State) AdmitsDomains(o *Groups, shape int32, domains []int32) bool {
	for _, g := range o.Owns {
		group := &s.groups[g]
		if group.At == Hostname || !group.Hard {
			continue
		}
		d := domains[group.At]
		switch group.Kind {
		case Anti:
			if d != NoDomain && CountAt(s.Members[g], d) > 0 {
				return false
			}
		case Spread:
			if d == NoDomain || s.SkewAfter(o, g, shape, d) > group.MaxSkew {
				return false
			}
		case Together:
			if s.Total[g] > 0 && CountAt(s.Members[g], d) == 0 {
				return false
			}
		}
	}
	for _, g := range o.In {
		group := &s.groups[g]
		if group.At != Hostname && group.Hard && group.Kind == Anti {
			if d := domains[group.At]; d != NoDomain && CountAt(s.Owners[g], d) > 0 {
				return false
			}
		}
	}
	return true
}

// SkewAfter returns the skew of the spread with number g in domain d, as if one more pod were placed there.
func (s *State) SkewAfter(o *Groups, g, shape, d int32) int32 {
	count := CountAt(s.Members[g], d)
	if Contains(o.In, g) {
		count++
	}
	return count - s.Emptiest(g, shape)
}

// Emptiest returns the number of members in the emptiest domain of the group. It considers domains with nodes that the group counts, and
// domains in which pods of the owner's shape could get a node. If there are fewer such domains than minDomains, it returns 0.
func (s *State) Emptiest(g, shape int32) int32 {
	group := &s.groups[g]
	least, inBeing := int32(math.MaxInt32), int32(0)
	for d, n := range s.Present[g] {
		if n > 0 {
			inBeing++
			least = min(least, CountAt(s.Members[g], int32(d)))
		}
	}
	if inBeing < group.MinDomains {
		return 0
	}
	if !s.Binding {
		for _, d := range s.Reach(shape, group.At) {
			least = min(least, CountAt(s.Members[g], d))
		}
	}
	if least == math.MaxInt32 {
		return 0
	}
	return least
}

// leastOnHosts returns the least number of members on any node that the group counts. It returns 0 if there are fewer such nodes than
// minDomains.
func (s *State) leastOnHosts(g int32) int32 {
	if known, ok := s.least[g]; ok {
		return known
	}
	least, seen := int32(math.MaxInt32), int32(0)
	for i := range s.Hosts {
		if h := &s.Hosts[i]; !h.Gone && !h.Ignored(g) {
			seen++
			least = min(least, h.Of(g).Members)
		}
	}
	if seen == 0 || seen < s.groups[g].MinDomains {
		least = 0
	}
	if s.least == nil {
		s.least = map[int32]int32{}
	}
	s.least[g] = least
	return least
}

// AdmitsAffinity checks required pod affinity. For each rule, the pod's domain must have a member. The pod is also admitted if, for all
// rules, no domain has a member yet and the pod itself is a member.
func (s *State) AdmitsAffinity(o *Groups, domains []int32, of func(group int32) Tally) bool {
	met, first := true, true
	for _, g := range o.Owns {
		group := &s.groups[g]
		if group.Kind != Affinity || !group.Hard {
			continue
		}
		members := int32(0)
		if group.At == Hostname {
			members = of(g).Members
		} else {
			d := domains[group.At]
			if d == NoDomain {
				return false
			}
			members = CountAt(s.Members[g], d)
		}
		met = met && members > 0
		first = first && s.Total[g] == 0 && Contains(o.In, g)
	}
	return met || first
}

// Contains reports whether v is in the list, which must be in ascending order.
func Contains(sorted []int32, v int32) bool {
	_, ok := slices.BinarySearch(sorted, v)
	return ok
}
