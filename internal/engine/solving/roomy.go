package solving

import (
	"context"
	"slices"

	"github.com/drawknife/drawknife/internal/engine/existing"
	"github.com/drawknife/drawknife/internal/engine/layout"
	"github.com/drawknife/drawknife/internal/engine/placing"
)

// fillRoomy places all wishes on nodes of the snapshot if there is room for all of them and all preferences are kept. In this case, values
// of pods are not needed. Computing the values is most of the work of placing few pods in a large cluster, because it takes a linear
// program over all nodes that could be bought. If some pods would have no place, it places nothing and returns false.
func (t Solving) fillRoomy(ctx context.Context, c *layout.Cells, wishes []placing.Wish) bool {
	if slices.ContainsFunc(wishes, func(w placing.Wish) bool { return t.M.Classes[w.Class].Invalid != nil }) {
		return false
	}
	before, left := t.Mark(), slices.Clone(wishes)
	proposals := t.proposeExisting(ctx, c, left, make([]int64, len(t.M.Classes)), existing.FitFully)
	if !slices.ContainsFunc(left, func(w placing.Wish) bool { return w.Count > 0 }) {
		t.admit(proposals)
		if !slices.ContainsFunc(wishes, func(w placing.Wish) bool { return t.S.Waiting[w.Class] > 0 }) {
			return true
		}
	}
	t.Undo(before)
	return false
}
