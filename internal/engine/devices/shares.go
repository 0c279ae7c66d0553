package devices

import (
	"cmp"
	"slices"
)

// Devices that use the same counters can't all be allocated at once. For example, a GPU is allocated as a whole, or as a number of
// partitions. Example: a node has n GPUs, and p partitions of some kind fit on one GPU. If a whole GPU weighs p and a partition weighs 1,
// all allocated devices together weigh at most n·p. This limit becomes one resource, called a share. For any weights of kinds, claims can
// be met only if their total weight is at most the largest total weight of devices that can be allocated together. So a share never
// excludes a possible allocation. Weights are chosen so that a share excludes many impossible allocations. One share is made for each kind
// of a group. In this share, the kind gets a weight with which its devices that fit in the group together weigh 1. Every other kind gets
// the largest weight with which no devices that fit in the group together weigh more than 1.

// weighted is a share: it has a weight for each kind.
type weighted struct {
	// weights has the weight of each kind, which is 0 for most kinds. kinds are the kinds with a weight above 0.
	weights []int64
	kinds   kindSet
}

// heaviest returns the weight of a device that could serve the kinds of the set. This is the largest weight of these kinds.
func (w *weighted) heaviest(set kindSet) int64 {
	most := int64(0)
	for at := range set.both(w.kinds).all {
		most = max(most, w.weights[at])
	}
	return most
}

// ofMasks returns the total weight of devices. The map by has the number of devices for each set of kinds that they could serve.
func (w *weighted) ofMasks(by map[kindSet]int64) int64 {
	sum := int64(0)
	for mask, count := range by {
		sum += count * w.heaviest(mask)
	}
	return sum
}

// without returns the share without the given kinds. It is used for nodes where devices do not serve these kinds.
func (w *weighted) without(kinds kindSet) weighted {
	return weighted{w.weights, w.kinds.without(kinds)}
}

// maxShares limits the number of shares. maxShareUnit limits the whole number that represents the weight 1 in a share.
const (
	maxShares    = 32
	maxShareUnit = 1 << 14
)

// sharesOf returns the shares of the nodes' groups, at most maxShares. It omits a share if a set of kinds in the parameter sets, or an
// earlier share, already gives the same limit.
func sharesOf(nodes []Units, sets []kindSet) []weighted {
	var out []weighted
	for i := range nodes {
		for j := range nodes[i].groups.list {
			for _, w := range nodes[i].groups.list[j].shares() {
				said := w.alike() && slices.Contains(sets, w.kinds) ||
					slices.ContainsFunc(out, func(o weighted) bool { return slices.Equal(o.weights, w.weights) })
				if !said && len(out) < maxShares {
					out = append(out, w)
				}
			}
		}
	}
	slices.SortFunc(out, func(a, b weighted) int {
		return cmp.Or(compareSets(a.kinds, b.kinds), slices.Compare(a.weights, b.weights))
	})
	return out
}

// alike reports whether all kinds of the share have the same weight.
func (w *weighted) alike() bool {
	for at := range w.kinds.all {
		if w.weights[at] != w.weights[w.kinds.first()] {
			return false
		}
	}
	return true
}

// shares returns the shares of the group: one set of weights for each of its kinds, in which this kind gets its weight first. It returns
// nil if the group has fewer than two kinds.
func (g *counterGroup) shares() []weighted {
	all := kindSet{}
	for i := range g.parts {
		all = all.union(g.parts[i].set)
	}
	if all.count() < 2 {
		return nil
	}
	// If fewer devices of a kind fit in the group, each of these devices weighs more. So the kinds of which the fewest devices fit come
	// first.
	type room struct {
		kind int
		most int64
	}
	var rooms []room
	for kind := range all.all {
		w := weighted{make([]int64, MaxKinds), only(kind)}
		w.weights[kind] = 1
		if most := g.most(w.heaviest); most.known && most.weight > 0 {
			rooms = append(rooms, room{kind, most.weight})
		}
	}
	slices.SortStableFunc(rooms, func(a, b room) int { return cmp.Compare(a.most, b.most) })
	var out []weighted
	for _, first := range rooms {
		l := lifting{g: g, unit: first.most, w: weighted{make([]int64, MaxKinds), only(first.kind)}}
		l.w.weights[first.kind] = 1
		for _, other := range rooms {
			if other.kind != first.kind {
				l.lift(other.kind, other.most)
			}
		}
		l.reduce()
		out = append(out, l.w)
	}
	return out
}

// lifting assigns weights to kinds one after another. Devices that fit in the group together never have a total weight above the field
// unit.
type lifting struct {
	g    *counterGroup
	unit int64
	w    weighted
}

// lift gives the kind the largest weight with which no devices that fit in the group together weigh more than l.unit. It lowers the weight
// until this condition is met. For each new weight, it subtracts the weight of the other kinds in the heaviest combination from l.unit, and
// divides the difference by the number of devices of the kind in this combination. The parameter most is the number of devices of the kind
// that fit without other kinds.
func (l *lifting) lift(kind int, most int64) {
	l.w.kinds.add(kind)
	l.share(kind, l.unit, most)
	for l.w.weights[kind] > 0 {
		found := l.g.most(l.w.heaviest)
		if found.known && found.weight <= l.unit {
			return
		}
		n, rest := int64(0), l.unit
		for i, had := range found.had {
			set := l.g.parts[i].set
			heaviest := l.w.heaviest(set)
			if set.has(kind) && heaviest == l.w.weights[kind] {
				n += had
			} else {
				rest -= had * heaviest
			}
		}
		if n == 0 { // the heaviest combination is unknown, because there are too many combinations of devices
			break
		}
		l.share(kind, rest, n)
	}
	l.w.weights[kind] = 0
	l.w.kinds.remove(kind)
}

// share sets the weight of the kind to the quotient rest/n. If this is not a whole number, it multiplies all weights and l.unit by a
// factor, as far as maxShareUnit allows.
func (l *lifting) share(kind int, rest, n int64) {
	if finer := n / gcd(max(rest, 0), n); finer > 1 && l.unit*finer <= maxShareUnit {
		l.unit, rest = l.unit*finer, rest*finer
		for i := range l.w.weights {
			l.w.weights[i] *= finer
		}
	}
	l.w.weights[kind] = max(rest, 0) / n
}

// reduce divides all weights by their greatest common divisor.
func (l *lifting) reduce() {
	by := int64(0)
	for _, w := range l.w.weights {
		by = gcd(w, by)
	}
	for i := range l.w.weights {
		l.w.weights[i] /= max(by, 1)
	}
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
