package solving

import (
	"context"
	"math"
	"slices"

	"github.com/drawknife/drawknife/internal/engine/existing"
	"github.com/drawknife/drawknife/internal/engine/newnodes"
	"github.com/drawknife/drawknife/internal/engine/resources"
	"github.com/drawknife/drawknife/internal/engine/state"
	"github.com/drawknife/drawknife/internal/engine/trial"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// Nodes of the snapshot are filled one after another with the pods of the highest value. Such a node may run out of one resource while much
// of another resource is free. In this case, the remaining pods need more new nodes than necessary. If few pods are pending and some of
// these pods need new nodes, the nodes of the snapshot are filled again with pods that fit well together. The cheaper of the two plans is
// kept.

// fillAgain looks for cheaper places for the pods that were placed since the mark. The new attempt must place at least as many pods and
// keep at least as many preferences as the first attempt. After filling the nodes of the snapshot, it continues only if the pods that still
// need new nodes request less of some resource than these pods did in the first attempt.
func (t Improving) fillAgain(ctx context.Context, before trial.Mark, classes []int32) {
	if t.Options.ExistingOnly || t.Options.Effort == planning.EffortFast || t.NewOnly || len(t.M.Nodes) == 0 {
		return
	}
	pods := t.S.Placed.PodsSince(&t.S.Log, before.At)
	if pods > maxPodsTwice || pods*len(t.M.Nodes) > maxRoomSteps {
		return
	}
	best := t.S.Record(before.At)
	if !best.OnlyOpens() || len(best.NodesUsed()) == 0 {
		return
	}
	cost, proof, priorities, broken := newnodes.Of(t.Trial).NewCost(), t.Proof, t.prioritiesOf(classes), t.countBroken()
	want, asked := t.value(best, priorities), t.askedBeyond(best, classes)
	t.Undo(before)
	t.fillBalanced(ctx, classes)
	if !resources.Fits(asked, t.askedFor(classes)) {
		Of(t.Trial).placeTiers(ctx, classes)
		if w := t.S.Record(before.At); slices.Compare(t.value(w, priorities), want) >= 0 && newnodes.Of(t.Trial).NewCost() < cost && t.countBroken() <= broken {
			return
		}
	}
	t.Undo(before)
	t.Restore(best)
	t.Proof = proof
}

// askedBeyond returns the sum of the requests of those pods of the classes that are pending or that the record places on new nodes.
func (t Improving) askedBeyond(w state.Record, classes []int32) []int64 {
	out := t.askedFor(classes)
	for _, b := range w.Bindings {
		if b.Host >= w.Existing {
			resources.AddScaled(out, t.M.Classes[b.Class].Requests, int64(b.Count))
		}
	}
	return out
}

// askedFor returns the sum of the requests of the pending pods of the classes.
func (t Improving) askedFor(classes []int32) []int64 {
	out := make([]int64, t.M.Resources.Len())
	for _, class := range classes {
		if c := t.M.Classes[class]; c.Invalid == nil {
			resources.AddScaled(out, c.Requests, int64(t.S.Waiting[class]))
		}
	}
	return out
}

// fillBalanced fills the nodes one after another, the nodes with the least room first. It always adds the pod after which the weighted sum
// of the squared free shares of the node's resources is lowest. The planner packs new nodes with the same heuristic.
func (t Improving) fillBalanced(ctx context.Context, classes []int32) {
	Of(t.Trial).placeNominated(classes, math.MinInt32)
	for _, node := range t.nodesByRoom() {
		whole := slices.Clone(t.S.Room.Of(node))
		weights := t.demand(classes, whole)
		for class := int32(0); class >= 0 && ctx.Err() == nil; {
			if class = t.mostBalanced(node, classes, whole, weights); class >= 0 {
				t.Add(state.Binding{Class: class, Host: node, Count: 1, Stage: -1})
			}
		}
	}
}

// demand returns, for each resource, the total requests of the pending pods divided by the free amount of a node.
func (t Improving) demand(classes []int32, free []int64) []float64 {
	out := make([]float64, len(free))
	for d, asked := range t.askedFor(classes) {
		if free[d] > 0 {
			out[d] = float64(asked) / float64(free[d])
		}
	}
	return out
}

// mostBalanced returns the class of the pod to add to the node: the pod after which the weighted sum of the node's squared free shares is
// lowest. It considers only the classes with the best fit on the node. It returns -1 if no pod fits. whole has the free amounts before
// fillBalanced placed pods on the node.
func (t Improving) mostBalanced(node int32, classes []int32, whole []int64, weights []float64) int32 {
	best, most, kept := int32(-1), math.Inf(-1), uint32(0)
	free := t.S.Room.Of(node)
	for _, class := range classes {
		c := t.M.Classes[class]
		if t.S.Waiting[class] == 0 || c.Invalid != nil {
			continue
		}
		need, fit := t.S.Volumes.NeedOn(c, node), t.M.Fits.FitOf(t.M.Nodes[node].Group, c.Shape)
		if fit < max(existing.FitGivingUp, kept) || !resources.Fits(need, free) {
			continue
		}
		score := 0.0
		for d, n := range need {
			if whole[d] > 0 && d != resources.Pods {
				share, room := float64(n)/float64(whole[d]), float64(free[d])/float64(whole[d])
				score += weights[d] * share * (2*room - share)
			}
		}
		if (fit > kept || score > most) && t.S.Admits(c, node) {
			best, most, kept = class, score, fit
		}
	}
	return best
}
