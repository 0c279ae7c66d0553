package scheduling

import (
	"context"
	"slices"

	"github.com/drawknife/drawknife/internal/engine/state"
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
func (t *Trial) sparePlaces(ctx context.Context, before Mark, classes, tried []int32) {
	if t.s.Topology == nil || t.newCost() == 0 || t.options.ExistingOnly || t.s.PodsSince(before.at) > maxSparing {
		return
	}
	found := t.s.Record(before.at)
	pods := found.Pods()
	for _, class := range classes {
		pods += int(t.s.Waiting[class])
	}
	used := mergeNodes(found.NodesUsed(), tried)
	if len(used) == 0 || pods > maxSparing || !slices.ContainsFunc(found.Bindings, func(b state.Binding) bool {
		c := t.m.c.Classes[b.Class]
		return t.m.concerned(c.Topology) || t.mustShare(c)
	}) {
		return
	}
	// What is cheaper is known only once the pods on new nodes have been placed again as well as they can be: it is nodes
	// in the same zone that cost more, and each way may lead to others.
	t.rearrange(ctx, before, classes)
	found = t.s.Record(before.at)
	priorities := t.prioritiesOf(classes)
	best, cost, improved := found, t.newCost(), false
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
		t.undo(before)
		for _, node := range queue[n] {
			t.s.Usable.Remove(int(node))
		}
		tried := t.placeReal(ctx, classes)
		t.rearrange(ctx, before, classes)
		for _, node := range queue[n] {
			t.s.Usable.Add(int(node))
		}
		if t.s.WaitingPods() > 0 {
			t.placeTogether(ctx, classes) // whom the others keep from all else may have a place just there
		}
		w := t.s.Record(before.at)
		extend(queue[n], mergeNodes(w.NodesUsed(), tried))
		if c := slices.Compare(t.value(w, priorities), t.value(best, priorities)); c > 0 || (c == 0 && t.newCost() < cost) {
			best, cost, improved = w, t.newCost(), true
		}
	}
	t.undo(before)
	t.restore(best)
	if improved {
		t.settle()
	}
}

// mergeNodes are the nodes of either list, ascending.
func mergeNodes(a, b []int32) []int32 {
	out := slices.Concat(a, b)
	slices.Sort(out)
	return slices.Compact(out)
}
