package resources

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/drawknife/drawknife/internal/seeded"
)

// A search in the tree finds what looking at all vectors finds, also after some of them have changed.
func TestMaxTreeFindsTheFirst(t *testing.T) {
	seeded.Check(t, func(t *rapid.T) {
		count, dims := rapid.IntRange(1, 40).Draw(t, "count"), rapid.IntRange(1, 3).Draw(t, "resources")
		vector := func(name string) []int64 { return rapid.SliceOfN(rapid.Int64Range(-1, 9), dims, dims).Draw(t, name) }
		tree := NewMaxTree(count, dims)
		for i := range count {
			copy(tree.Leaf(i), vector("vector"))
		}
		tree.PullAll()
		for range rapid.IntRange(1, 20).Draw(t, "searches") {
			if rapid.Bool().Draw(t, "change") {
				leaf := rapid.IntRange(0, count-1).Draw(t, "leaf")
				copy(tree.Leaf(leaf), vector("vector"))
				tree.PullFrom(leaf)
			}
			need, from := vector("need"), rapid.IntRange(0, count).Draw(t, "from")
			want := -1
			for i := from; i < count && want < 0; i++ {
				if Fits(need, tree.Leaf(i)) {
					want = i
				}
			}
			if got := tree.Next(need, from); got != want {
				t.Fatalf("need %v from %d: %d, want %d", need, from, got, want)
			}
		}
	})
}
