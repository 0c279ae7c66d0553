package topology

import "slices"

// CountsOnly returns a copy without nodes. It is used to assign pods to cells.
func (s *State) CountsOnly() *State {
	return &State{
		groups: s.groups, keys: s.keys, Reach: s.Reach, Members: cloneCounts(s.Members), Owners: cloneCounts(s.Owners), Total: slices.Clone(s.Total),
		Present: cloneCounts(s.Present), Domains: s.Domains,
	}
}

// PlaceInCell counts n pods in a cell as if they were on a node of the cell. domains has the cell's domains.
func (s *State) PlaceInCell(o *Groups, domains []int32, n int32) {
	for _, g := range o.In {
		group := &s.groups[g]
		if group.At == Hostname {
			continue
		}
		if d := domains[group.At]; d != NoDomain {
			s.Members[g] = Bump(s.Members[g], d, n)
			s.Total[g] += n
			if CountAt(s.Present[g], d) == 0 {
				s.Present[g] = Bump(s.Present[g], d, 1)
			}
		}
	}
	for _, g := range o.Owns {
		group := &s.groups[g]
		if group.At == Hostname {
			continue
		}
		d := domains[group.At]
		if d == NoDomain {
			continue
		}
		if group.Kind == Anti && group.Hard {
			s.Owners[g] = Bump(s.Owners[g], d, n)
		}
		if CountAt(s.Present[g], d) == 0 {
			s.Present[g] = Bump(s.Present[g], d, 1)
		}
	}
}

// AdmitsWideAffinity does the same as AdmitsAffinity, but only for rules whose domains are larger than a node.
func (s *State) AdmitsWideAffinity(o *Groups, domains []int32) bool {
	met, first := true, true
	for _, g := range o.Owns {
		group := &s.groups[g]
		if group.Kind != Affinity || !group.Hard || group.At == Hostname {
			continue
		}
		d := domains[group.At]
		if d == NoDomain {
			return false
		}
		met = met && CountAt(s.Members[g], d) > 0
		first = first && s.Total[g] == 0 && Contains(o.In, g)
	}
	return met || first
}

// SoftBroken returns the share, by weight, of the pod's soft rules that a placement in these domains would violate. It considers only rules
// over domains larger than a node.
func (s *State) SoftBroken(o *Groups, shape int32, domains []int32) float64 {
	broken, all := int32(0), int32(0)
	for _, g := range o.Owns {
		group := &s.groups[g]
		if group.Hard || group.At == Hostname {
			continue
		}
		all += group.Weight
		d := domains[group.At]
		switch group.Kind {
		case Spread:
			if d == NoDomain || s.SkewAfter(o, g, shape, d) > group.MaxSkew {
				broken += group.Weight
			}
		case Anti:
			if d != NoDomain && CountAt(s.Members[g], d) > 0 {
				broken += group.Weight
			}
		case Affinity:
			if s.Total[g] > 0 && (d == NoDomain || CountAt(s.Members[g], d) == 0) {
				broken += group.Weight
			}
		}
	}
	if all == 0 {
		return 0
	}
	return float64(broken) / float64(all)
}
