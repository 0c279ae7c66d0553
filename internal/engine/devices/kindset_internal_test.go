package devices

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/drawknife/drawknife/internal/seeded"
)

// A kindSet is a set of numbers below MaxKinds.
func TestKindSet(t *testing.T) {
	seeded.Times(t, 200, func(t *rapid.T) {
		draw := func(name string) (kindSet, map[int]bool) {
			var s kindSet
			in := map[int]bool{}
			for _, at := range rapid.SliceOfN(rapid.IntRange(0, MaxKinds-1), 0, 12).Draw(t, name) {
				s.add(at)
				in[at] = true
			}
			return s, in
		}
		a, inA := draw("a")
		b, inB := draw("b")
		var members []int
		common := false
		for at := range MaxKinds {
			if a.has(at) != inA[at] || a.union(b).has(at) != (inA[at] || inB[at]) || a.both(b).has(at) != (inA[at] && inB[at]) || a.without(b).has(at) != (inA[at] && !inB[at]) {
				t.Fatalf("%d of %v and %v", at, inA, inB)
			}
			if inA[at] {
				members = append(members, at)
			}
			common = common || inA[at] && inB[at]
		}
		first := MaxKinds
		if len(members) > 0 {
			first = members[0]
		}
		if got := slices.Collect(a.all); !slices.Equal(got, members) || a.count() != len(members) || a.first() != first || a.empty() != (len(members) == 0) || a.meets(b) != common {
			t.Fatalf("%v is %v, %d, from %d on", inA, got, a.count(), a.first())
		}
		if len(members) > 0 {
			a.remove(first)
			if a.has(first) || a.count() != len(members)-1 || compareSets(a, a.union(only(first))) >= 0 {
				t.Fatalf("%d is not removed", first)
			}
		}
	})
}
