package offers

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/drawknife/drawknife/internal/engine/pricing"
	"github.com/drawknife/drawknife/internal/engine/resources"
	"github.com/drawknife/drawknife/internal/seeded"
)

// Pods that fit on a node fit in whole units as well: counting so keeps no plan from being one.
func TestWhatFitsFitsInWholeUnits(t *testing.T) {
	counted := 0
	seeded.Check(t, func(t *rapid.T) {
		const dims = 2
		var items []pricing.Item
		for range rapid.IntRange(1, 5).Draw(t, "items") {
			items = append(items, pricing.Item{Count: rapid.IntRange(1, 9).Draw(t, "count"), Need: []int64{rapid.Int64Range(0, 9).Draw(t, "a"), rapid.Int64Range(0, 9).Draw(t, "b")}})
		}
		room := Room{Alloc: []int64{rapid.Int64Range(0, 40).Draw(t, "room a"), rapid.Int64Range(0, 40).Draw(t, "room b")}, Nodes: 2}
		out, caps := CountWhole(items, nil, []Room{room}, dims)
		counted += len(caps)
		sum := make([]int64, dims+len(caps))
		for i := range items {
			resources.AddScaled(sum, out[i].Need, rapid.Int64Range(0, int64(items[i].Count)).Draw(t, "pods"))
		}
		if !resources.Fits(sum[:dims], room.Alloc) {
			return
		}
		for k := range caps {
			if have := caps[k].on(room.Alloc); sum[dims+k] > have {
				t.Errorf("%d units of %d of resource %d, and %v has %d", sum[dims+k], caps[k].Unit, caps[k].Resource, room.Alloc, have)
			}
		}
	})
	if counted == 0 {
		t.Error("no resource was ever counted in units")
	}
}
