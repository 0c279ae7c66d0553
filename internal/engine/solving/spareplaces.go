package solving

import (
	"context"
	"slices"

	"github.com/drawknife/drawknife/internal/engine/newnodes"
	"github.com/drawknife/drawknife/internal/engine/placing"
	"github.com/drawknife/drawknife/internal/engine/state"
	"github.com/drawknife/drawknife/internal/engine/trial"
)

// Existing nodes are filled first, because room on them costs nothing. But a pod on such a node may attract other pods that must follow it,
// or keep away pods that must not be near it. The new nodes for these other pods may then be more expensive.

const (
	// maxSparing is the maximum number of pods in a plan for which sparePlaces leaves out nodes.
	maxSparing = 12
	// maxSparingRetries is the maximum number of attempts that leave out nodes which hold pods of the plan, or on which earlier searches
	// put pods. maxTriedRetries is the maximum number of attempts that leave out nodes on which only the method rearrange put pods.
	maxSparingRetries = 16
	maxTriedRetries   = 8
)

// sparing is the state of one search for a cheaper plan that leaves out some nodes of the snapshot.
type sparing struct {
	t          Improving
	before     trial.Mark
	classes    []int32
	priorities []int32
	best       state.Record
	cost       int64
	improved   bool
	// queue has the sets of nodes to leave out next. seen has all sets that were ever in the queue.
	queue, seen [][]int32
}

// sparePlaces looks for a cheaper plan with at least as many pods as were placed since the mark. It leaves out some nodes of the snapshot
// on which these pods were placed or tried. It returns true if there are no such nodes. In this case it has only called rearrange.
func (t Improving) sparePlaces(ctx context.Context, before trial.Mark, classes, tried []int32) (rearranged bool) {
	if t.S.Topology == nil || newnodes.Of(t.Trial).NewCost() == 0 || t.Options.ExistingOnly || t.S.Placed.PodsSince(&t.S.Log, before.At) > maxSparing {
		return false
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
	used := mergeNodes(found.NodesUsed(), tried)
	// Costs can be compared only after the pods on new nodes have been rearranged, because the plans that leave out nodes may need more
	// expensive nodes in the same zone.
	others := t.rearrange(ctx, before, classes)
	if len(used) == 0 && len(others) == 0 {
		return true
	}
	s := &sparing{t: t, before: before, classes: classes, priorities: t.prioritiesOf(classes), best: t.S.Record(before.At), cost: newnodes.Of(t.Trial).NewCost()}
	s.extend(nil, used)
	s.retry(ctx, maxSparingRetries)
	s.queue = nil
	s.extend(nil, others)
	s.retry(ctx, maxTriedRetries)
	t.Undo(before)
	t.Restore(s.best)
	if s.improved {
		placing.GrowthOf(t.Trial).Settle()
	}
	return false
}

// extend adds one set of nodes to the queue for each node in the list used: the nodes in the list spared and this node.
func (s *sparing) extend(spared, used []int32) {
	for _, node := range used {
		next := append(slices.Clone(spared), node)
		slices.Sort(next)
		if !slices.ContainsFunc(s.seen, func(x []int32) bool { return slices.Equal(x, next) }) {
			s.seen, s.queue = append(s.seen, next), append(s.queue, next)
		}
	}
}

// retry places all pods again without the nodes of each set in the queue. The parameter most is the maximum number of attempts. retry keeps
// the best plan.
func (s *sparing) retry(ctx context.Context, most int) {
	t := s.t
	for n := 0; n < len(s.queue) && n < most && ctx.Err() == nil; n++ {
		t.Undo(s.before)
		for _, node := range s.queue[n] {
			t.S.Room.Usable.Remove(int(node))
		}
		tried := Of(t.Trial).placeReal(ctx, s.classes)
		t.rearrange(ctx, s.before, s.classes)
		for _, node := range s.queue[n] {
			t.S.Room.Usable.Add(int(node))
		}
		if t.S.Waiting.Pods() > 0 {
			Of(t.Trial).placeTogether(ctx, s.classes) // pods that no other node accepts may have a place on the nodes that were left out
		}
		w := t.S.Record(s.before.At)
		s.extend(s.queue[n], mergeNodes(w.NodesUsed(), tried))
		if c := slices.Compare(t.value(w, s.priorities), t.value(s.best, s.priorities)); c > 0 || (c == 0 && newnodes.Of(t.Trial).NewCost() < s.cost) {
			s.best, s.cost, s.improved = w, newnodes.Of(t.Trial).NewCost(), true
		}
	}
}

// mergeNodes returns the nodes of both lists in ascending order.
func mergeNodes(a, b []int32) []int32 {
	out := slices.Concat(a, b)
	slices.Sort(out)
	return slices.Compact(out)
}
