package devices

import (
	"cmp"
	"math/bits"
	"slices"
)

// kindSet is a set of kinds, which are identified by their numbers. Sets can be compared by == and used as keys of maps.
type kindSet [MaxKinds / 64]uint64

// only returns a set with only the given kind.
func only(at int) kindSet {
	var s kindSet
	s.add(at)
	return s
}

func (s *kindSet) add(at int) { s[at>>6] |= 1 << (at & 63) }

func (s *kindSet) remove(at int) { s[at>>6] &^= 1 << (at & 63) }

func (s kindSet) has(at int) bool { return s[at>>6]&(1<<(at&63)) != 0 }

func (s kindSet) empty() bool { return s == kindSet{} }

// meets reports whether the two sets have a kind in common.
func (s kindSet) meets(o kindSet) bool {
	for i := range s {
		if s[i]&o[i] != 0 {
			return true
		}
	}
	return false
}

// union returns the kinds that are in s or in o.
func (s kindSet) union(o kindSet) kindSet {
	for i := range s {
		s[i] |= o[i]
	}
	return s
}

// both returns the kinds that are in s and in o.
func (s kindSet) both(o kindSet) kindSet {
	for i := range s {
		s[i] &= o[i]
	}
	return s
}

// without returns the kinds that are in s but not in o.
func (s kindSet) without(o kindSet) kindSet {
	for i := range s {
		s[i] &^= o[i]
	}
	return s
}

// count returns the number of kinds in the set.
func (s kindSet) count() int {
	n := 0
	for _, w := range s {
		n += bits.OnesCount64(w)
	}
	return n
}

// first returns the first kind, or MaxKinds if the set is empty.
func (s kindSet) first() int {
	for i, w := range s {
		if w != 0 {
			return i<<6 + bits.TrailingZeros64(w)
		}
	}
	return MaxKinds
}

// all yields the kinds in ascending order.
func (s kindSet) all(yield func(at int) bool) {
	for i, w := range s {
		for ; w != 0; w &= w - 1 {
			if !yield(i<<6 + bits.TrailingZeros64(w)) {
				return
			}
		}
	}
}

// compareSets compares sets like numbers that have one bit for each kind.
func compareSets(a, b kindSet) int {
	for i := len(a) - 1; i >= 0; i-- {
		if order := cmp.Compare(a[i], b[i]); order != 0 {
			return order
		}
	}
	return 0
}

// sortedSets returns the keys of the map, in the order of compareSets.
func sortedSets[V any](m map[kindSet]V) []kindSet {
	keys := make([]kindSet, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, compareSets)
	return keys
}
