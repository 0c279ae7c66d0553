package solving

import (
	"context"
	"slices"

	"github.com/drawknife/drawknife/internal/engine/newnodes"
	"github.com/drawknife/drawknife/internal/engine/placing"
	"github.com/drawknife/drawknife/internal/engine/state"
	"github.com/drawknife/drawknife/internal/engine/trial"
)

// Room on existing nodes costs nothing and is filled first. But a pod there may attract others that follow it, or drive away others that
// must be apart from it, and the nodes that these need may be more expensive.

const (
	// maxSparing bounds how many pods are planned once more without some node.
	maxSparing = 12
	// maxSparingRetries bounds how often without nodes that hold pods, or that were tried before, and maxTriedRetries how often without
	// others, on which only looking for a cheaper plan has put pods.
	maxSparingRetries = 16
	maxTriedRetries   = 8
)

// sparePlaces looks for a cheaper way to place as many pods as since the mark, without some of the nodes that received pods or were tried.
func (t Improving) sparePlaces(ctx context.Context, before trial.Mark, classes, tried []int32) {
	if t.S.Topology == nil || newnodes.Of(t.Trial).NewCost() == 0 || t.Options.ExistingOnly || t.S.Placed.PodsSince(&t.S.Log, before.At) > maxSparing {
		return
	}
	found := t.S.Record(before.At)
	pods := found.Pods()
	for _, class := range classes {
		pods += int(t.S.Waiting[class])
	}
	if len(t.M.Nodes) == 0 || pods > maxSparing || !slices.ContainsFunc(found.Bindings, func(b state.Binding) bool {
		c := t.M.Classes[b.Class]
		return rulesConcern(t.M, c.Topology) || placing.SitesOf(t.Trial).MustShare(c)
	}) {
		return false
	}
	// Which plan is cheaper is only known after the pods on new nodes have been repacked as well as possible: the nodes that cost more are
	// in the same zone, and each plan may lead to others.
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
			t.S.Room.Usable.Remove(int(node))
		}
		tried := Of(t.Trial).placeReal(ctx, classes)
		t.rearrange(ctx, before, classes)
		for _, node := range queue[n] {
			t.S.Room.Usable.Add(int(node))
		}
		if t.S.Waiting.Pods() > 0 {
			Of(t.Trial).placeTogether(ctx, classes) // whom the others keep from all else may have a place just there
		}
		w := t.S.Record(s.before.At)
		s.extend(s.queue[n], mergeNodes(w.NodesUsed(), tried))
		if c := slices.Compare(t.value(w, s.priorities), t.value(s.best, s.priorities)); c > 0 || (c == 0 && newnodes.Of(t.Trial).NewCost() < s.cost) {
			s.best, s.cost, s.improved = w, newnodes.Of(t.Trial).NewCost(), true
		}
	}
}

// mergeNodes returns the nodes of both lists, ascending.
func mergeNodes(a, b []int32) []int32 {
	out := slices.Concat(a, b)
	slices.Sort(out)
	return slices.Compact(out)
}
