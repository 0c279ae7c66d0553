package scheduling

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/drawknife/drawknife/internal/engine/existing"
	"github.com/drawknife/drawknife/internal/engine/podclass"
	"github.com/drawknife/drawknife/internal/engine/resources"
	"github.com/drawknife/drawknife/internal/engine/state"
)

// Filling nodes with the pods worth most may leave pods for which new nodes are bought, although another packing has room for
// them. Consolidation finds such packings and counts on them: its pods come back to provisioning, which would launch again
// what consolidation has just saved. So where new nodes are planned although the nodes that there are have as much room as is
// asked for, other packings of these nodes are tried, and the cheapest plan is kept.

const (
	// maxRoomPods and maxRoomSteps bound how many pods are packed again, and how many pods times nodes each packing may look at.
	maxRoomPods  = 1000
	maxRoomSteps = 100_000
	// roomDraws is how many packings are drawn by chance.
	roomDraws = 12
)

// roomFirst looks for a cheaper way to place the pods that were placed since the mark, with more of them on nodes of the
// snapshot. It places as many, and no pod in a domain from which a spread sends it to another that pools can reach.
func (t *Trial) roomFirst(ctx context.Context, before Mark, classes []int32) {
	if t.options.ExistingOnly || t.newOnly || t.s.Filled() == 0 || len(t.m.c.Nodes) == 0 || t.s.PodsSince(before.at) > maxRoomPods {
		return
	}
	found, cost := t.s.Record(before.at), t.newCost()
	if !found.OnlyOpens() {
		return
	}
	proof, rooms := t.proof, t.rooms
	priorities := t.prioritiesOf(classes)
	want := t.value(found, priorities)
	t.undo(before)
	t.rooms = nil
	best, improved := found, false
	if t.couldHold(classes) {
		most, all := t.fullest(ctx, before, classes, priorities)
		t.restore(most)
		if !all {
			t.placeTiers(ctx, classes)
		}
		if w := t.s.Record(before.at); slices.Compare(t.value(w, priorities), want) >= 0 && t.newCost() < cost {
			best, improved = w, true
		}
		t.undo(before)
	}
	t.rooms = rooms
	t.restore(best)
	if !improved {
		t.proof = proof
	}
}

// fullest is the packing of nodes of the snapshot that places most; all says that it places every pod of the classes.
func (t *Trial) fullest(ctx context.Context, before Mark, classes, priorities []int32) (best state.Record, all bool) {
	options := t.options
	t.options.ExistingOnly, t.roomOnly = true, true
	defer func() { t.options, t.roomOnly = options, false }()
	nodes := t.nodesByRoom()
	size := t.sizes(nodes)
	var most []int
	for draw := -2; draw < roomDraws && !all && ctx.Err() == nil; draw++ {
		switch draw {
		case -2:
			t.moveAll(nodes, classes)
		case -1:
			t.placeTiers(ctx, classes)
		default:
			if t.s.WaitingPods()*len(nodes) > maxRoomSteps {
				return best, false
			}
			t.packAlike(ctx, nodes, classes, size, uint64(draw))
		}
		w := t.s.Record(before.at)
		if v := t.value(w, priorities); most == nil || slices.Compare(v, most) > 0 {
			best, most = w, v
		}
		all = !slices.ContainsFunc(classes, func(class int32) bool { return t.s.Waiting[class] > 0 })
		t.undo(before)
	}
	return best, all
}

// couldHold reports whether the nodes have as much free together as the pods of the classes ask for.
func (t *Trial) couldHold(classes []int32) bool {
	dims := t.m.c.Resources.Len()
	need, free := make([]int64, dims), make([]int64, dims)
	for _, class := range classes {
		if c := t.m.c.Classes[class]; c.Invalid == nil {
			resources.AddScaled(need, c.Requests, int64(t.s.Waiting[class]))
		}
	}
	for i := range t.s.Usable.Members {
		for d, n := range t.s.FreeOf(int32(i)) {
			free[d] += max(n, 0)
		}
	}
	return resources.Fits(need, free)
}

// nodesByRoom are the nodes that take pods, those with least room first.
func (t *Trial) nodesByRoom() []int32 {
	var nodes []int32
	for i := range t.s.Usable.Members {
		nodes = append(nodes, int32(i))
	}
	t.sortByRoom(nodes, t.sizes(nodes))
	return nodes
}

// moveAll places the pods as Move does, the largest first, each on the first of the nodes that takes it.
func (t *Trial) moveAll(nodes, classes []int32) {
	t.rooms = t.newRoomIndex(nodes)
	t.placeNominated(classes, math.MinInt32)
	t.moveClasses(slices.DeleteFunc(t.waitingClasses(), func(c int32) bool { return !slices.Contains(classes, c) }))
	t.rooms = nil
}

// packAlike places the pods, the largest first but for what chance changes, each on the node whose room is most like what it
// asks for.
func (t *Trial) packAlike(ctx context.Context, nodes, classes []int32, size func([]int64) float64, seed uint64) {
	t.placeNominated(classes, math.MinInt32)
	random := seed
	key := make(map[int32]float64, len(classes))
	for _, class := range classes {
		random = random*6364136223846793005 + 1442695040888963407 // Knuth's linear congruence
		chance := float64(random>>33)/(1<<31) - 0.5
		key[class] = size(t.m.c.Classes[class].Requests) * (1 + chance*min(float64(seed), 3)/10)
	}
	order := slices.Clone(classes)
	slices.SortFunc(order, func(a, b int32) int {
		return cmp.Or(cmp.Compare(t.m.c.Classes[b].Priority, t.m.c.Classes[a].Priority), cmp.Compare(key[b], key[a]), cmp.Compare(a, b))
	})
	weights := t.shareWeights(size)
	for progress := true; progress && ctx.Err() == nil; {
		progress = false
		for _, class := range order {
			c := t.m.c.Classes[class]
			for t.s.Waiting[class] > 0 && c.Invalid == nil {
				node := t.mostAlike(c, nodes, weights)
				if node < 0 {
					break
				}
				t.place(state.Binding{Class: class, Host: node, Count: 1, Stage: -1})
				progress = progress || c.Topology != nil
			}
		}
	}
}

// shareWeights is what one unit of each resource is of all that is free.
func (t *Trial) shareWeights(size func([]int64) float64) []float64 {
	const unit = 1 << 20
	one, out := make([]int64, t.m.c.Resources.Len()), make([]float64, t.m.c.Resources.Len())
	for d := range out {
		one[d] = unit
		out[d] = size(one) / unit
		one[d] = 0
	}
	return out
}

// mostAlike is the node that takes a pod of the class whose room has the direction nearest to its requests'; -1 for none.
func (t *Trial) mostAlike(c *podclass.Class, nodes []int32, weights []float64) int32 {
	best, most, kept := int32(-1), -1.0, uint32(0)
	for _, node := range nodes {
		need, free := t.s.Volumes.NeedOn(c, node), t.s.FreeOf(node)
		fit := t.m.c.Fits.FitOf(t.m.c.Nodes[node].Group, c.Shape)
		if fit < max(existing.FitGivingUp, kept) || !resources.Fits(need, free) {
			continue
		}
		dot, sum := 0.0, 0.0
		for d := range need {
			room := float64(free[d]) * weights[d]
			dot += float64(need[d]) * weights[d] * room
			sum += room * room
		}
		if like := dot / math.Sqrt(max(sum, math.SmallestNonzeroFloat64)); (fit > kept || like > most) && t.s.Admits(c, node) {
			best, most, kept = node, like, fit
		}
	}
	return best
}
