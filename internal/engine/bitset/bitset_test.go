package bitset_test

import (
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/drawknife/drawknife/internal/engine/bitset"
	"github.com/drawknife/drawknife/internal/seeded"
)

// Sets of bits are sets: each operation does what it does to maps.
func TestSet(t *testing.T) {
	seeded.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 200).Draw(t, "n")
		draw := func(name string) (bitset.Set, map[int]bool) {
			b, m := bitset.New(n), map[int]bool{}
			for _, i := range rapid.SliceOf(rapid.IntRange(0, n-1)).Draw(t, name) {
				if m[i] {
					b.Remove(i)
					delete(m, i)
				} else {
					b.Add(i)
					m[i] = true
				}
			}
			return b, m
		}
		a, inA := draw("a")
		b, inB := draw("b")
		both, either := a.Clone(), a.Clone()
		both.And(b)
		either.Or(b)
		within := true
		for i := range n {
			if a.Has(i) != inA[i] || both.Has(i) != (inA[i] && inB[i]) || either.Has(i) != (inA[i] || inB[i]) {
				t.Fatalf("%d: %v of %v and %v", i, both, a, b)
			}
			within = within && (!inA[i] || inB[i])
		}
		if a.Within(b) != within || a.Count() != len(inA) || a.Empty() != (len(inA) == 0) {
			t.Errorf("%v and %v: within %v, count %d", a, b, a.Within(b), a.Count())
		}
		if got := slices.Collect(a.Members); !slices.Equal(got, slices.Sorted(maps.Keys(inA))) {
			t.Errorf("members %v of %v", got, inA)
		}
		if full := bitset.Full(n); full.Count() != n || !either.Within(full) {
			t.Errorf("all of %d: %v", n, full)
		}
	})
}
