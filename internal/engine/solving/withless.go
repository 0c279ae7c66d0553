package solving

import (
	"context"
	"slices"

	"github.com/drawknife/drawknife/internal/engine/newnodes"
	"github.com/drawknife/drawknife/internal/engine/trial"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// maxPodsTwice is the maximum number of pods in a plan whose pods are placed twice. With few pods, one node more or less is a large part of
// the plan's cost.
const maxPodsTwice = 600

// withLess places again, with the least effort, the pods that were placed since the mark. It keeps the cheaper of the two plans. If there
// are rules between pods, a cheaper filling of some nodes sometimes leads to a more expensive plan, because fewer pods can share nodes with
// the remaining pods.
func (t Improving) withLess(ctx context.Context, before trial.Mark, classes []int32) {
	if t.Options.Effort == planning.EffortFast || t.S.Topology == nil || t.S.Planned.Filled() == 0 || t.S.Placed.PodsSince(&t.S.Log, before.At) > maxPodsTwice {
		return
	}
	found, cost := t.S.Record(before.At), newnodes.Of(t.Trial).NewCost()
	if !found.OnlyOpens() {
		return
	}
	proof, priorities, effort := t.Proof, t.prioritiesOf(classes), t.Options.Effort
	want := t.value(found, priorities)
	t.Undo(before)
	t.Options.Effort = planning.EffortFast
	Of(t.Trial).placeTiers(ctx, classes)
	t.Options.Effort = effort
	if other := t.S.Record(before.At); slices.Compare(t.value(other, priorities), want) >= 0 && newnodes.Of(t.Trial).NewCost() < cost {
		return
	}
	t.Undo(before)
	t.Restore(found)
	t.Proof = proof
}
