package solving

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/drawknife/drawknife/internal/engine/existing"
	"github.com/drawknife/drawknife/internal/engine/newnodes"
	"github.com/drawknife/drawknife/internal/engine/placing"
	"github.com/drawknife/drawknife/internal/engine/podclass"
	"github.com/drawknife/drawknife/internal/engine/resources"
	"github.com/drawknife/drawknife/internal/engine/state"
	"github.com/drawknife/drawknife/internal/engine/trial"
)

// If nodes are filled with the pods of the highest value, pods may be left over for which new nodes are bought, although a different
// packing has room for them. Consolidation finds such packings and relies on them. The pods that it moves come back to provisioning.
// Provisioning could then launch again the nodes that consolidation has just removed. Therefore, if new nodes are planned although existing
// nodes have enough free resources in total, other packings of the existing nodes are tried. The cheapest plan is kept.

const (
	// maxRoomPods is the maximum number of pods that are packed again. maxRoomSteps is the maximum product of pods and nodes in each random
	// packing.
	maxRoomPods  = 1000
	maxRoomSteps = 100_000
	// roomDraws is the number of random packings.
	roomDraws = 12
)

// roomFirst looks for cheaper places for the pods that were placed since the mark, so that more of these pods are on nodes of the snapshot.
// The new plan places at least as many pods as the old plan. It puts no pod into a domain if the pod's spread requires another domain that
// pools can reach.
func (t Improving) roomFirst(ctx context.Context, before trial.Mark, classes []int32) {
	if t.Options.ExistingOnly || t.NewOnly || t.S.Planned.Filled() == 0 || len(t.M.Nodes) == 0 || t.S.Placed.PodsSince(&t.S.Log, before.At) > maxRoomPods {
		return
	}
	found, cost := t.S.Record(before.At), newnodes.Of(t.Trial).NewCost()
	if !found.OnlyOpens() {
		return
	}
	proof, rooms := t.Proof, t.Rooms
	priorities := t.prioritiesOf(classes)
	want := t.value(found, priorities)
	t.Undo(before)
	t.Rooms = nil
	best, improved := found, false
	if t.couldHold(classes) {
		most, all := t.fullest(ctx, before, classes, priorities)
		t.Restore(most)
		if !all {
			Of(t.Trial).placeTiers(ctx, classes)
		}
		if w := t.S.Record(before.At); slices.Compare(t.value(w, priorities), want) >= 0 && newnodes.Of(t.Trial).NewCost() < cost {
			best, improved = w, true
		}
		t.Undo(before)
	}
	t.Rooms = rooms
	t.Restore(best)
	if !improved {
		t.Proof = proof
	}
}

// fullest tries several packings of the snapshot's nodes and returns the packing that places the most pods. The numbers of pods of higher
// priority are compared first. The result all is true if the packing places all pods of the classes.
func (t Improving) fullest(ctx context.Context, before trial.Mark, classes, priorities []int32) (best state.Record, all bool) {
	options := t.Options
	t.Options.ExistingOnly, t.RoomOnly = true, true
	defer func() { t.Options, t.RoomOnly = options, false }()
	nodes := t.nodesByRoom()
	size := t.Sizes(nodes)
	var most []int
	for draw := -2; draw < roomDraws && !all && ctx.Err() == nil; draw++ {
		switch draw {
		case -2:
			t.moveAll(nodes, classes)
		case -1:
			Of(t.Trial).placeTiers(ctx, classes)
		default:
			if t.S.Waiting.Pods()*len(nodes) > maxRoomSteps {
				return best, false
			}
			t.packAlike(ctx, nodes, classes, size, uint64(draw))
		}
		w := t.S.Record(before.At)
		if v := t.value(w, priorities); most == nil || slices.Compare(v, most) > 0 {
			best, most = w, v
		}
		all = !slices.ContainsFunc(classes, func(class int32) bool { return t.S.Waiting[class] > 0 })
		t.Undo(before)
	}
	return best, all
}

// couldHold reports whether the free resources of all nodes together cover the requests of the pods of the classes.
func (t Improving) couldHold(classes []int32) bool {
	dims := t.M.Resources.Len()
	need, free := make([]int64, dims), make([]int64, dims)
	for _, class := range classes {
		if c := t.M.Classes[class]; c.Invalid == nil {
			resources.AddScaled(need, c.Requests, int64(t.S.Waiting[class]))
		}
	}
	for i := range t.S.Room.Usable.Members {
		for d, n := range t.S.Room.Of(int32(i)) {
			free[d] += max(n, 0)
		}
	}
	return resources.Fits(need, free)
}

// nodesByRoom returns the nodes that take pods, the nodes with the least room first.
func (t Improving) nodesByRoom() []int32 {
	var nodes []int32
	for i := range t.S.Room.Usable.Members {
		nodes = append(nodes, int32(i))
	}
	Of(t.Trial).sortByRoom(nodes, t.Sizes(nodes))
	return nodes
}

// moveAll places the pods like a move of disruption: the largest pods first, and each pod on the first node that takes it.
func (t Improving) moveAll(nodes, classes []int32) {
	t.Rooms = t.NewRoomIndex(nodes)
	Of(t.Trial).placeNominated(classes, math.MinInt32)
	placing.Of(t.Trial).MoveClasses(slices.DeleteFunc(t.WaitingClasses(), func(c int32) bool { return !slices.Contains(classes, c) }))
	t.Rooms = nil
}

// packAlike places each pod on the node whose free resources have a ratio nearest to that of the pod's requests. Pods of higher priority
// come first, then larger pods, with small random changes of the sizes.
func (t Improving) packAlike(ctx context.Context, nodes, classes []int32, size func([]int64) float64, seed uint64) {
	Of(t.Trial).placeNominated(classes, math.MinInt32)
	random := seed
	key := make(map[int32]float64, len(classes))
	for _, class := range classes {
		random = random*6364136223846793005 + 1442695040888963407 // random is Knuth's linear congruential generator
		chance := float64(random>>33)/(1<<31) - 0.5
		key[class] = size(t.M.Classes[class].Requests) * (1 + chance*min(float64(seed), 3)/10)
	}
	order := slices.Clone(classes)
	slices.SortFunc(order, func(a, b int32) int {
		return cmp.Or(cmp.Compare(t.M.Classes[b].Priority, t.M.Classes[a].Priority), cmp.Compare(key[b], key[a]), cmp.Compare(a, b))
	})
	weights := t.shareWeights(size)
	for progress := true; progress && ctx.Err() == nil; {
		progress = false
		for _, class := range order {
			c := t.M.Classes[class]
			for t.S.Waiting[class] > 0 && c.Invalid == nil {
				node := t.mostAlike(c, nodes, weights)
				if node < 0 {
					break
				}
				t.Add(state.Binding{Class: class, Host: node, Count: 1, Stage: -1})
				progress = progress || c.Topology != nil
			}
		}
	}
}

// shareWeights returns, for each resource, the share that one unit has of the free amounts. The function size computes this share from a
// vector of amounts.
func (t Improving) shareWeights(size func([]int64) float64) []float64 {
	const unit = 1 << 20
	one, out := make([]int64, t.M.Resources.Len()), make([]float64, t.M.Resources.Len())
	for d := range out {
		one[d] = unit
		out[d] = size(one) / unit
		one[d] = 0
	}
	return out
}

// mostAlike returns the node for a pod of the class whose free resources have the ratio nearest to that of the pod's requests, or -1 if no
// node takes the pod.
func (t Improving) mostAlike(c *podclass.Class, nodes []int32, weights []float64) int32 {
	best, most, kept := int32(-1), -1.0, uint32(0)
	for _, node := range nodes {
		need, free := t.S.Volumes.NeedOn(c, node), t.S.Room.Of(node)
		fit := t.M.Fits.FitOf(t.M.Nodes[node].Group, c.Shape)
		if fit < max(existing.FitGivingUp, kept) || !resources.Fits(need, free) {
			continue
		}
		dot, sum := 0.0, 0.0
		for d := range need {
			room := float64(free[d]) * weights[d]
			dot += float64(need[d]) * weights[d] * room
			sum += room * room
		}
		if like := dot / math.Sqrt(max(sum, math.SmallestNonzeroFloat64)); (fit > kept || like > most) && t.S.Admits(c, node) {
			best, most, kept = node, like, fit
		}
	}
	return best
}
