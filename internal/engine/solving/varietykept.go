package solving

import (
	"context"
	"slices"

	"github.com/drawknife/drawknife/internal/engine/placing"
	"github.com/drawknife/drawknife/internal/engine/trial"
)

// The instance types that a NodeClaim allows also depend on other nodes. For example, the NodeClaim may name a zone that a spread counts
// only because some node is in this zone. Therefore, if pods are removed from another node, the NodeClaim may no longer meet its pool's
// minValues.

// keepVaried finds the new nodes since the mark that no longer meet their pools' minValues, and places the pods of these nodes again.
func (t Solving) keepVaried(ctx context.Context, before trial.Mark, classes []int32) {
	for round := 0; !placing.GrowthOf(t.Trial).AllVaried(); round++ {
		w := t.S.Record(before.At)
		t.Undo(before)
		t.Restore(w) // the record has no empty nodes, so now each new node has the number that the record gives it
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
