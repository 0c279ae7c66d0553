package solving

import (
	"context"
	"slices"

	"github.com/drawknife/drawknife/internal/engine/placing"
	"github.com/drawknife/drawknife/internal/engine/trial"
)

// Which instance types a claim allows also depends on other nodes: it may name a zone that a spread counts only because some node is in it.
// So if other pods leave a node, the claim of another node may lose the variety that its pool requires.

// keepVaried finds the new nodes since the mark that are no longer varied enough, and places their pods again.
func (t Solving) keepVaried(ctx context.Context, before trial.Mark, classes []int32) {
	for round := 0; !placing.GrowthOf(t.Trial).AllVaried(); round++ {
		w := t.S.Record(before.At)
		t.Undo(before)
		t.Restore(w) // without empty nodes: the remaining ones have the numbers of the record
		bad := placing.GrowthOf(t.Trial).Unvaried(int(w.First)-len(t.M.Nodes), false)
		t.Undo(before)
		ImprovingOf(t.Trial).restoreBut(w, func(host int32) bool { return slices.Contains(bad, host-int32(len(t.M.Nodes))) })
		if len(bad) == 0 {
			return
		}
		if round < maxBuys {
			t.placeLeft(ctx, classes)
		}
	}
}
