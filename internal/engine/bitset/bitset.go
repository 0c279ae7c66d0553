// Package bitset provides sets of small numbers.
//
// The question: which numbers below n are in both of two sets, in at least one of them, or in neither? The planner uses sets millions of
// times, for instance types and offerings that meet requirements.
//
// Input and output are slices of 64-bit words, with a bit for each number from 0 on. Operations on n numbers take n/64 steps. Only
// operations whose comment says so allocate memory.
package bitset

import "math/bits"

// Set is a set of small numbers. Sets that are combined must have equal length. Operations allocate memory only if their comment says so.
type Set []uint64

// New returns an empty set for the numbers 0..n-1.
func New(n int) Set { return make(Set, (n+63)/64) }

// Full returns the set of all numbers 0..n-1.
func Full(n int) Set {
	b := New(n)
	for i := range b {
		b[i] = ^uint64(0)
	}
	if r := n % 64; r != 0 {
		b[len(b)-1] = 1<<r - 1
	}
	return b
}

// Has reports whether the number is in the set.
func (b Set) Has(i int) bool { return b[i>>6]&(1<<(i&63)) != 0 }

// Add adds the number to the set.
func (b Set) Add(i int) { b[i>>6] |= 1 << (i & 63) }

// Remove removes the number from the set.
func (b Set) Remove(i int) { b[i>>6] &^= 1 << (i & 63) }

// And removes from b the numbers that are not in o.
func (b Set) And(o Set) {
	for i := range b {
		b[i] &= o[i]
	}
}

// Or adds the numbers of o to b.
func (b Set) Or(o Set) {
	for i := range b {
		b[i] |= o[i]
	}
}

// Empty reports whether the set is empty.
func (b Set) Empty() bool {
	for _, w := range b {
		if w != 0 {
			return false
		}
	}
	return true
}

// Within reports whether every member of b is also in o.
func (b Set) Within(o Set) bool {
	for i := range b {
		if b[i]&^o[i] != 0 {
			return false
		}
	}
	return true
}

// Count returns how many numbers are in the set.
func (b Set) Count() int {
	n := 0
	for _, w := range b {
		n += bits.OnesCount64(w)
	}
	return n
}

// Clone returns a copy of the set. It allocates memory.
func (b Set) Clone() Set { return append(Set(nil), b...) }

// Members yields the members in ascending order.
func (b Set) Members(yield func(int) bool) {
	for i, w := range b {
		for w != 0 {
			if !yield(i<<6 + bits.TrailingZeros64(w)) {
				return
			}
			w &= w - 1
		}
	}
}
