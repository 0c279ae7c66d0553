package solving

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/drawknife/drawknife/internal/engine/existing"
	"github.com/drawknife/drawknife/internal/engine/layout"
	"github.com/drawknife/drawknife/internal/engine/market"
	"github.com/drawknife/drawknife/internal/engine/model"
	"github.com/drawknife/drawknife/internal/engine/newnodes"
	"github.com/drawknife/drawknife/internal/engine/placing"
	"github.com/drawknife/drawknife/internal/engine/resources"
	"github.com/drawknife/drawknife/internal/engine/state"
	"github.com/drawknife/drawknife/internal/engine/trial"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// placeAll places all pending pods, including placeholders.
func (t Solving) placeAll(ctx context.Context) {
	if t.M.Gangs != nil && !t.NewOnly {
		GangsOf(t.Trial).place(ctx)
		return
	}
	t.placePods(ctx)
}

// placePods places real pods together, then placeholders. Nominated pods come first. If a pod then has no place although its priority is
// higher than that of a nominated pod, placePods starts again. This time, only nominated pods of at least the priority of the pod without a
// place come first.
func (t Solving) placePods(ctx context.Context) {
	m := t.M
	var real, placeholders []int32
	for i, c := range m.Classes {
		switch {
		case t.S.Waiting[i] == 0:
		case c.Placeholder:
			placeholders = append(placeholders, int32(i))
		default:
			real = append(real, int32(i))
		}
	}
	if t.NewOnly {
		t.placeReal(ctx, real)
		t.admitDevices(ctx)
		t.placeTogether(ctx, placeholders)
		t.keepTogether()
		return
	}
	start := t.Mark()
	least, promised := t.placeNominated(real, math.MinInt32)
	t.placeTiers(ctx, real)
	if highest, waits := t.highestWaiting(real); promised && waits && highest > least {
		t.Undo(start)
		t.placeNominated(real, highest)
		t.placeTiers(ctx, real)
	}
	ImprovingOf(t.Trial).roomFirst(ctx, start, real)
	ImprovingOf(t.Trial).fillAgain(ctx, start, real)
	ImprovingOf(t.Trial).withLess(ctx, start, real)
	t.admitDevices(ctx)
	if len(placeholders) > 0 {
		t.placeTogether(ctx, placeholders)
	}
	t.keepTogether()
}

// placeTiers places real pods. After that, it looks for cheaper places for them.
func (t Solving) placeTiers(ctx context.Context, real []int32) {
	before := t.Mark()
	tried := t.placeReal(ctx, real)
	if !ImprovingOf(t.Trial).sparePlaces(ctx, before, real, tried) {
		ImprovingOf(t.Trial).rearrange(ctx, before, real)
	}
}

// placeReal places the pods of the classes. If a pod then has no place although a pod of lower priority has a place, placeReal starts again
// and places one priority after another. It returns the nodes of the snapshot that it used before it called searchFurther.
func (t Solving) placeReal(ctx context.Context, real []int32) (tried []int32) {
	before := t.Mark()
	t.placeTogether(ctx, real)
	if tiers := t.priorities(real); len(tiers) > 1 && t.inverted(before, real) {
		t.Undo(before)
		for _, tier := range tiers {
			t.placeTogether(ctx, tier)
		}
		if t.S.Topology != nil && t.S.Waiting.Pods() > 0 {
			t.placeTogether(ctx, real) // for pods whose affinity needs pods of lower priority to be placed first
		}
	}
	if t.NewOnly {
		return nil
	}
	return t.searchFurther(ctx, before, real)
}

// placeTogether places the pods of the classes. With MinValuesBestEffort, pods that can't meet their pools' minValues are placed first, so
// that other pods can use the free room of these pods' nodes. Other pods get new nodes that don't meet minValues only if they have no other
// place.
func (t Solving) placeTogether(ctx context.Context, classes []int32) {
	if t.Options.MinValues != planning.MinValuesBestEffort {
		t.Lenient = false
		t.placeClasses(ctx, classes)
		return
	}
	var settling, others []int32
	for _, class := range classes {
		if placing.GrowthOf(t.Trial).SettlesForLess(class) {
			settling = append(settling, class)
		} else {
			others = append(others, class)
		}
	}
	t.Lenient = true
	t.placeClasses(ctx, settling)
	t.Lenient = false
	t.placeClasses(ctx, others)
	t.Lenient = true
	t.placeClasses(ctx, slices.DeleteFunc(others, func(class int32) bool { return t.S.Waiting[class] == 0 }))
}

// priorities groups classes by priority, highest priority first.
func (t Solving) priorities(classes []int32) [][]int32 {
	sorted := slices.Clone(classes)
	slices.SortStableFunc(sorted, func(a, b int32) int {
		return cmp.Compare(t.M.Classes[b].Priority, t.M.Classes[a].Priority)
	})
	var out [][]int32
	for i, class := range sorted {
		if i == 0 || t.M.Classes[class].Priority != t.M.Classes[sorted[i-1]].Priority {
			out = append(out, nil)
		}
		out[len(out)-1] = append(out[len(out)-1], class)
	}
	return out
}

// inverted reports whether a pod of the classes is pending although the trial has placed a pod of lower priority.
func (t Solving) inverted(since trial.Mark, classes []int32) bool {
	highest, waits := int32(0), false
	for _, class := range classes {
		c := t.M.Classes[class]
		if t.S.Waiting[class] > 0 && c.Invalid == nil && (!waits || c.Priority > highest) {
			highest, waits = c.Priority, true
		}
	}
	if !waits {
		return false
	}
	return slices.ContainsFunc(t.S.Placed.All, func(p state.Binding) bool { return t.M.Classes[p.Class].Priority < highest })
}

// placeClasses runs the steps in order: it fills new nodes that are already planned, fills existing nodes by the values of pods, packs the
// other pods onto new nodes, checks all of this by the exact rules, and places the remaining pods one by one.
func (t Solving) placeClasses(ctx context.Context, classes []int32) {
	if !t.Begin(classes) {
		return
	}
	c, before := t.Cells, t.Mark()
	if len(t.S.Planned) > 0 && !t.NewOnly {
		placing.Of(t.Trial).FillPlanned(classes)
	}
	bulk := slices.DeleteFunc(slices.Clone(classes), func(class int32) bool { return placing.SitesOf(t.Trial).MustShare(t.M.Classes[class]) })
	wishes := t.wishes(c, bulk)
	if len(t.M.Nodes) > 0 && !t.NewOnly {
		wishes = t.fillNodes(ctx, c, bulk, wishes)
	}
	if !t.Options.ExistingOnly {
		t.packStages(ctx, c, wishes)
	}
	t.S.AbandonEmpty()
	t.placeLeft(ctx, classes)
	t.keepVaried(ctx, before, classes)
}

// placeLeft places the remaining pods one by one by the exact rules. If a pod of the classes is still pending after that, it fits nowhere.
// At the end, placeLeft replaces new nodes by the cheapest nodes that are sufficient.
func (t Solving) placeLeft(ctx context.Context, classes []int32) {
	placing.Of(t.Trial).PlaceSingly(ctx, t.Cells, classes)
	placing.SpreadsOf(t.Trial).PlaceTightly(ctx, t.Cells, classes)
	placing.GrowthOf(t.Trial).Settle()
}

// maxDeals is the maximum number of times that pods are assigned to cells of existing nodes. If there are more than MaxRetriedPods pods,
// they are assigned only once.
const maxDeals = 4

// fillNodes places the pods of the wishes on nodes of the snapshot, and returns the wishes with the remaining pods. Each class is assigned
// to cells as if no other class used the room of a cell. If there are at most MaxRetriedPods, pods that find no room are assigned again,
// because another cell may have room.
func (t Solving) fillNodes(ctx context.Context, c *layout.Cells, classes []int32, wishes []placing.Wish) []placing.Wish {
	if t.fillRoomy(ctx, c, wishes) {
		return nil
	}
	for round := 1; ; round++ {
		waiting := t.S.Waiting.Pods()
		t.admit(t.proposeExisting(ctx, c, wishes, t.classWorth(ctx, c, wishes), existing.FitFully, existing.FitGivingUp))
		crowded := slices.ContainsFunc(wishes, func(w placing.Wish) bool { return w.OnNodes && w.Count > 0 })
		if !crowded || waiting > MaxRetriedPods || t.S.Waiting.Pods() == waiting || round == maxDeals || ctx.Err() != nil {
			return wishes
		}
		wishes = t.wishes(c, classes)
	}
}

// nodesFor lists, in ascending order, the usable nodes with room for a pod of at least one wish. It leaves out all other nodes, so that
// placements don't depend on nodes that can take no pod.
func (t Solving) nodesFor(wishes []*placing.Wish) []int32 {
	m := t.M
	var out []int32
	for i := range t.S.Room.Usable.Members {
		free, group := t.S.Room.Of(int32(i)), m.Nodes[i].Group
		if slices.ContainsFunc(wishes, func(w *placing.Wish) bool {
			c := m.Classes[w.Class]
			return resources.Fits(c.Requests, free) && m.Fits.Accepts(group, c.Shape)
		}) {
			if out == nil {
				out = make([]int32, 0, len(m.Nodes))
			}
			out = append(out, int32(i))
		}
	}
	return out
}

// sortByRoom sorts nodes: initialized nodes come before other nodes. Within each of these two groups, the nodes with the least room come
// first.
func (t Solving) sortByRoom(nodes []int32, size func([]int64) float64) {
	if len(nodes) < 2 {
		return
	}
	room := make([]float64, len(t.M.Nodes))
	for _, i := range nodes {
		room[i] = size(t.S.Room.Of(i))
	}
	slices.SortFunc(nodes, func(a, b int32) int {
		return cmp.Or(model.BoolCompare(t.M.Nodes[b].Initialized, t.M.Nodes[a].Initialized), cmp.Compare(room[a], room[b]), cmp.Compare(a, b))
	})
}

// admitDevices imitates how kube-scheduler assigns devices to pods. It places a pod again if kube-scheduler would assign the pod's devices
// to other pods.
func (t Solving) admitDevices(ctx context.Context) {
	for range trial.MaxAdmitRounds {
		a := t.NewDeviceAdmission()
		if a == nil || ctx.Err() != nil {
			return
		}
		again := a.TakeOffRefused()
		if len(again) == 0 {
			return
		}
		t.placeTogether(ctx, again)
	}
	if a := t.NewDeviceAdmission(); a != nil {
		a.TakeOffRefused()
	}
}

// Place finds places for the pending pods: first on nodes of the snapshot, then on planned nodes. If ctx is cancelled, Place returns early
// with ctx.Err(). In this case, the pods placed so far stay placed, and a rollback can undo these placements.
func (t Solving) Place(ctx context.Context, o planning.PlaceOptions) (planning.Outcome, error) {
	before, filled, costBefore := trial.GangsOf(t.Trial).WaitingPods(), t.S.Planned.Filled(), newnodes.Of(t.Trial).NewCost()
	if before > 0 {
		t.Options = o
		t.placeAll(ctx)
	}
	out := planning.Outcome{Unplaced: trial.GangsOf(t.Trial).WaitingPods(), NewNodes: t.S.Planned.Filled() - filled}
	out.Placed = before - out.Unplaced
	cost := newnodes.Of(t.Trial).NewCost() - costBefore
	out.NewCost = float64(cost) / market.NanoPerUSD
	return out, ctx.Err()
}
