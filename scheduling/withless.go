package scheduling

import (
	"context"
	"slices"
)

// maxPodsTwice is how many pods are placed twice: of few, one node more or less is a large part of the cost.
const maxPodsTwice = 600

// withLess places what was placed since the mark once more, with the least effort, and keeps the cheaper of the two. Rules between pods
// make a cheaper filling of some nodes end dearer now and then, since it leaves others to pods that can share theirs with fewer.
func (t *Trial) withLess(ctx context.Context, before Mark, classes []int32) {
	if t.options.Effort == EffortFast || t.s.Topology == nil || t.s.Filled() == 0 || t.s.PodsSince(before.at) > maxPodsTwice {
		return
	}
	found, cost := t.s.Record(before.at), t.newCost()
	if !found.OnlyOpens() {
		return
	}
	proof, priorities, effort := t.proof, t.prioritiesOf(classes), t.options.Effort
	want := t.value(found, priorities)
	t.undo(before)
	t.options.Effort = EffortFast
	t.placeTiers(ctx, classes)
	t.options.Effort = effort
	if other := t.s.Record(before.at); slices.Compare(t.value(other, priorities), want) >= 0 && t.newCost() < cost {
		return
	}
	t.undo(before)
	t.restore(found)
	t.proof = proof
}
