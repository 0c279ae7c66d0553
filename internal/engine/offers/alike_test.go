package offers_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/drawknife/drawknife/internal/engine/offers"
	"github.com/drawknife/drawknife/internal/engine/podclass"
	"github.com/drawknife/drawknife/internal/engine/pricing"
	"github.com/drawknife/drawknife/internal/seeded"
)

// However many pods of joined items find nodes, each pod given is either handed out or left, and of two that are joined the one of higher
// priority is not left while the other is not.
func TestJoinedItemsAreHandedOut(t *testing.T) {
	seeded.Check(t, func(t *rapid.T) {
		m := &offers.Market{Dims: 1}
		var given []pricing.Item
		for i := range rapid.IntRange(1, 6).Draw(t, "items") {
			m.Classes = append(m.Classes, &podclass.Class{Priority: int32(rapid.IntRange(0, 2).Draw(t, "priority"))})
			it := pricing.Item{Class: int32(i), Count: rapid.IntRange(1, 4).Draw(t, "count"), Need: []int64{rapid.Int64Range(1, 2).Draw(t, "need")}, PerNode: pricing.Unbounded}
			it.Ruled = rapid.IntRange(0, 5).Draw(t, "ruled") == 0
			given = append(given, it)
		}
		j := m.Join(given)
		left, parts := make([]int, len(j.Items)), j.Split()
		got := make([]int, len(given))
		for k := range j.Items {
			left[k] = rapid.IntRange(0, j.Items[k].Count).Draw(t, "left")
			for placed := j.Items[k].Count - left[k]; placed > 0; placed-- {
				parts.Next(int32(k), 1, func(it *pricing.Item, n int32) { got[it.Class] += int(n) })
			}
		}
		for i, n := range j.Left(left) {
			if got[i]+n != given[i].Count {
				t.Errorf("of %d pods of item %d %d were handed out and %d left", given[i].Count, i, got[i], n)
			}
		}
		for k, of := range j.Parts {
			for _, a := range of {
				for _, b := range of {
					if given[a].Need[0] != given[b].Need[0] || len(of) > 1 && given[a].Ruled {
						t.Errorf("item %d joins unlike ones", k)
					}
					if m.Classes[a].Priority > m.Classes[b].Priority && got[a] < given[a].Count && got[b] > 0 {
						t.Errorf("pods of item %d wait, and those of %d of lower priority don't", a, b)
					}
				}
			}
		}
	})
}
