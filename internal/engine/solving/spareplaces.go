package solving

import (
	"context"
	"slices"

	"github.com/drawknife/drawknife/internal/engine/newnodes"
	"github.com/drawknife/drawknife/internal/engine/placing"
	"github.com/drawknife/drawknife/internal/engine/state"
	"github.com/drawknife/drawknife/internal/engine/trial"
)

// Room on nodes that are there costs nothing and is filled first. But a pod there may drag others along that follow it,
// or drive others away that keep apart from it, and what they need then may be dearer.

const (
	// maxSparing bounds how many pods are planned once more without some node, and how often.
	maxSparing        = 12
	maxSparingRetries = 16
)

// sparePlaces looks for a cheaper way to place as many pods as since the mark, without some of the nodes that have
// received any, or that were tried.
func (t Improving) sparePlaces(ctx context.Context, before trial.Mark, classes, tried []int32) {
	if t.S.Topology == nil || newnodes.Of(t.Trial).NewCost() == 0 || t.Options.ExistingOnly || t.S.PodsSince(before.At) > maxSparing {
		return
	}
	found := t.S.Record(before.At)
	pods := found.Pods()
	for _, class := range classes {
		pods += int(t.S.Waiting[class])
	}
	used := mergeNodes(found.NodesUsed(), tried)
	if len(used) == 0 || pods > maxSparing || !slices.ContainsFunc(found.Bindings, func(b state.Binding) bool {
		c := t.M.Classes[b.Class]
		return rulesConcern(t.M, c.Topology) || placing.SitesOf(t.Trial).MustShare(c)
	}) {
		return
	}
	// What is cheaper is known only once the pods on new nodes have been placed again as well as they can be: it is nodes
	// in the same zone that cost more, and each way may lead to others.
	t.rearrange(ctx, before, classes)
	found = t.S.Record(before.At)
	priorities := t.prioritiesOf(classes)
	best, cost, improved := found, newnodes.Of(t.Trial).NewCost(), false
	queue, seen := [][]int32{}, [][]int32{}
	extend := func(spared, used []int32) {
		for _, node := range used {
			next := append(slices.Clone(spared), node)
			slices.Sort(next)
			if !slices.ContainsFunc(seen, func(s []int32) bool { return slices.Equal(s, next) }) {
				seen, queue = append(seen, next), append(queue, next)
			}
		}
	}
	extend(nil, used)
	for n := 0; n < len(queue) && n < maxSparingRetries && ctx.Err() == nil; n++ {
		t.Undo(before)
		for _, node := range queue[n] {
			t.S.Usable.Remove(int(node))
		}
		tried := Of(t.Trial).placeReal(ctx, classes)
		t.rearrange(ctx, before, classes)
		for _, node := range queue[n] {
			t.S.Usable.Add(int(node))
		}
		if t.S.WaitingPods() > 0 {
			Of(t.Trial).placeTogether(ctx, classes) // whom the others keep from all else may have a place just there
		}
		w := t.S.Record(before.At)
		extend(queue[n], mergeNodes(w.NodesUsed(), tried))
		if c := slices.Compare(t.value(w, priorities), t.value(best, priorities)); c > 0 || (c == 0 && newnodes.Of(t.Trial).NewCost() < cost) {
			best, cost, improved = w, newnodes.Of(t.Trial).NewCost(), true
		}
	}
	t.Undo(before)
	t.Restore(best)
	if improved {
		placing.GrowthOf(t.Trial).Settle()
	}
}

// mergeNodes are the nodes of either list, ascending.
func mergeNodes(a, b []int32) []int32 {
	out := slices.Concat(a, b)
	slices.Sort(out)
	return slices.Compact(out)
}
