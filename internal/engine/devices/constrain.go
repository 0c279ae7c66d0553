package devices

import ()

// constrain removes devices from the kinds of a bundle until any choice of the remaining devices meets the bundle's constraints. For an
// attribute that must be equal, it keeps the devices with the best value (keepBest), or enough devices of each value for whole claims
// (keepPerValue). For an attribute that must differ, it keeps one device for each value (keepOneEach).
func (n *nodeUnits) constrain(first int) {
	claim := n.list[first].claim
	for _, distinct := range []bool{false, true} {
		for i := range claim.constraints {
			c := &claim.constraints[i]
			if c.distinct != distinct {
				continue
			}
			var kinds []int
			for at := range n.list {
				if n.concerned(at, n.list[first].bundle, c) {
					kinds = append(kinds, at)
				}
			}
			switch {
			case len(kinds) == 1 && n.takes[kinds[0]] == 1 && !n.list[kinds[0]].varied:
				n.keepWith(c, kinds)
			case distinct:
				n.keepOneEach(c, kinds)
			case len(claim.constraints) == 1 && n.apart(kinds):
				n.keepPerValue(c, kinds)
			default:
				n.keepBest(c, kinds)
			}
		}
	}
}

// keepWith keeps the devices that have the constraint's attribute. This is enough if the constraint applies to a single device, because the
// constraint then compares no two devices.
func (n *nodeUnits) keepWith(c *constraint, kinds []int) {
	of := bitsOf(kinds)
	for i := range n.sets {
		if n.inv.devices[i].attribute(c.attribute).kind == 0 {
			n.sets[i] = n.sets[i].without(of)
		}
	}
}

// apart reports whether no kind in the list is varied, and each device that serves such a kind serves no other kind, is not shared, and
// uses no counters.
func (n *nodeUnits) apart(kinds []int) bool {
	of := bitsOf(kinds)
	for i, set := range n.sets {
		if d := &n.inv.devices[i]; set.meets(of) && (set.count() > 1 || d.shared || len(d.consumes) > 0) {
			return false
		}
	}
	for _, at := range kinds {
		if n.list[at].varied {
			return false
		}
	}
	return true
}

// keepPerValue keeps, for each value of the attribute, as many devices as whole claims with this value can use. It is used only if apart
// returns true, because then no other kind needs these devices.
func (n *nodeUnits) keepPerValue(c *constraint, kinds []int) {
	of := bitsOf(kinds)
	counts, _ := n.byValue(c, kinds)
	left := map[value]map[int]int{}
	for v, have := range counts {
		claims := n.claimsOf(have, kinds)
		left[v] = map[int]int{}
		for _, at := range kinds {
			left[v][at] = claims * max(n.takes[at], 1)
		}
	}
	for i, set := range n.sets {
		if !set.meets(of) {
			continue
		}
		at := set.first()
		if v := n.inv.devices[i].attribute(c.attribute); v.kind == 0 || left[v][at] == 0 {
			n.sets[i] = kindSet{}
		} else {
			left[v][at]--
		}
	}
}

// byValue returns, for each value of the constraint's attribute, the number of devices for each kind. The result order lists the values in
// the order of the devices.
func (n *nodeUnits) byValue(c *constraint, kinds []int) (counts map[value]map[int]int, order []value) {
	of := bitsOf(kinds)
	counts = map[value]map[int]int{}
	for i := range n.sets {
		v := n.inv.devices[i].attribute(c.attribute)
		if !n.sets[i].meets(of) || v.kind == 0 {
			continue
		}
		if counts[v] == nil {
			counts[v] = map[int]int{}
			order = append(order, v)
		}
		for _, at := range kinds {
			if n.sets[i].has(at) {
				counts[v][at]++
			}
		}
	}
	return counts, order
}

// claimsOf returns the number of claims for which the devices are enough. The parameter have has the number of devices by kind.
func (n *nodeUnits) claimsOf(have map[int]int, kinds []int) int {
	claims := manyUnits
	for _, at := range kinds {
		claims = min(claims, have[at]/max(n.takes[at], 1))
	}
	return claims
}

// concerned reports whether the constraint applies to requests of the kind with index at. The kind must belong to the bundle, which is the
// set of kinds that one claim's constraints join. Of the kind's alternatives, the chosen one counts, or else the first one.
func (n *nodeUnits) concerned(at int, bundle string, c *constraint) bool {
	x := &n.list[at]
	a := x.alternatives[0]
	if n.chosen[at] != nil {
		a = n.chosen[at]
	}
	return x.bundle == bundle && c.concerns(x.request, a)
}

// keepOneEach keeps one device for each value of the attribute, and marks this device in n.once.
func (n *nodeUnits) keepOneEach(c *constraint, kinds []int) {
	of := bitsOf(kinds)
	seen := map[value]bool{}
	for i := range n.sets {
		if !n.sets[i].meets(of) {
			continue
		}
		v := n.inv.devices[i].attribute(c.attribute)
		if v.kind == 0 || seen[v] {
			n.sets[i] = n.sets[i].without(of)
		} else {
			n.once[i] = true
		}
		seen[v] = true
	}
}

// keepBest keeps only the devices with one value of the attribute. It chooses the value whose devices are enough for the largest number of
// claims.
func (n *nodeUnits) keepBest(c *constraint, kinds []int) {
	of := bitsOf(kinds)
	counts, order := n.byValue(c, kinds)
	best, most := value{}, -1
	for _, v := range order {
		if claims := n.claimsOf(counts[v], kinds); claims > most {
			best, most = v, claims
		}
	}
	for i := range n.sets {
		if v := n.inv.devices[i].attribute(c.attribute); v.kind == 0 || v != best {
			n.sets[i] = n.sets[i].without(of)
		}
	}
}

func bitsOf(kinds []int) kindSet {
	var set kindSet
	for _, at := range kinds {
		set.add(at)
	}
	return set
}
