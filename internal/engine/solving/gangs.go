package solving

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/drawknife/drawknife/internal/engine/gangs"
	"github.com/drawknife/drawknife/internal/engine/model"
	"github.com/drawknife/drawknife/internal/engine/newnodes"
	"github.com/drawknife/drawknife/internal/engine/resources"
	"github.com/drawknife/drawknife/internal/engine/state"
	"github.com/drawknife/drawknife/internal/engine/trial"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// Gangs are placed before other pods, because they are harder to place. The gang with the highest priority comes first. Each gang is tried
// in every domain that it could use, and stays in the cheapest domain. A gang that does not fit as a whole is withheld, so that it takes no
// room from other pods. If a pod then has no place although its priority is higher than that of a placed gang, gangs and pods are placed
// again, one priority after another.

const (
	// mostGangDomains is the number of domains in which a gang is tried. Domains with the most room on existing nodes come first.
	mostGangDomains = 64
	// mostGangRepairs is the number of times that all pods are placed again because a gang lost members to the rules for devices.
	mostGangRepairs = 8
)

// Gangs places pods together or not at all.
type Gangs struct{ Solving }

// GangsOf returns a Gangs for the trial.
func GangsOf(t *trial.Trial) Gangs { return Gangs{Of(t)} }

// place does the same as placePods, for a snapshot with gangs.
func (t Gangs) place(ctx context.Context) {
	if t.Packings == nil {
		t.Packings = trial.NewPackings() // many gangs are alike, and each gang is tried in many domains, so packings are cached
	}
	barred := map[int32]bool{}
	start := t.Mark()
	for repairs := 0; ; repairs++ {
		t.placeGangsFirst(ctx, start, barred)
		broken := t.brokenGangs()
		if len(broken) == 0 {
			return
		}
		t.Undo(start)
		for _, number := range broken {
			barred[number] = true
			if family := t.familyOf(number); family != nil {
				for _, other := range family.Needed {
					barred[other] = true
				}
			}
		}
		if repairs == mostGangRepairs {
			t.placePods(ctx)
			return
		}
	}
}

// placeGangsFirst places all gangs that are not in the map barred, and then all other pods. If a pod without a place then has a higher
// priority than a placed gang, placeGangsFirst starts again with placeInTurn.
func (t Gangs) placeGangsFirst(ctx context.Context, start trial.Mark, barred map[int32]bool) {
	x := t.M.Gangs
	lowest, placed := int32(math.MaxInt32), false
	t.placeNominated(t.RealClasses(), math.MinInt32)
	for _, number := range x.Order {
		if !barred[number] && t.placeGang(ctx, number) {
			lowest, placed = min(lowest, x.List[number].Priority), true
		}
	}
	t.Settled = nil
	t.addExtras(ctx, barred)
	t.placePods(ctx)
	highest, waits := t.highestWaiting(t.RealClasses())
	switch {
	case placed && waits && highest > lowest:
		t.Undo(start)
		t.placeInTurn(ctx, barred)
	case t.S.Topology != nil:
		t.placeFollowers(ctx, barred)
	}
}

// placeInTurn places pods and gangs priority by priority.
func (t Gangs) placeInTurn(ctx context.Context, barred map[int32]bool) {
	x := t.M.Gangs
	t.placeNominated(t.RealClasses(), math.MinInt32)
	for at := 0; at < len(x.Order); {
		priority := x.List[x.Order[at]].Priority
		t.placeAbove(ctx, priority)
		for ; at < len(x.Order) && x.List[x.Order[at]].Priority == priority; at++ {
			if !barred[x.Order[at]] {
				t.placeGang(ctx, x.Order[at])
			}
		}
	}
	t.Settled = nil
	t.addExtras(ctx, barred)
	t.placePods(ctx)
}

// placeAbove places the pods whose priority is higher than the parameter priority, as if no other pods were pending.
func (t Gangs) placeAbove(ctx context.Context, priority int32) {
	var above, others []int32
	for _, class := range t.RealClasses() {
		if t.M.Classes[class].Priority > priority {
			above = append(above, class)
		} else {
			others = append(others, class)
		}
	}
	if len(above) == 0 {
		return
	}
	aside := state.ChoosingOf(&t.S).SetAside(others)
	t.placeTiers(ctx, above)
	state.ChoosingOf(&t.S).TakeBack(aside)
}

// placeFollowers tries again to place the gangs without a place. The affinity of their pods may require other pods that have a place only
// now.
func (t Gangs) placeFollowers(ctx context.Context, barred map[int32]bool) {
	again := false
	for _, number := range t.M.Gangs.Order {
		again = !barred[number] && t.S.Ways[number] == model.GangWithheld && t.placeGang(ctx, number) || again
	}
	if again {
		t.addExtras(ctx, barred)
		t.placePods(ctx)
	}
}

// RealClasses returns the classes with pending pods that are not placeholders.
func (t Gangs) RealClasses() []int32 {
	var out []int32
	for i, c := range t.M.Classes {
		if t.S.Waiting[i] > 0 && !c.Placeholder {
			out = append(out, int32(i))
		}
	}
	return out
}

// addExtras places gangs without which their parents are complete. If placed gangs have more members than they need to be complete, it
// makes the additional members pending.
func (t Gangs) addExtras(ctx context.Context, barred map[int32]bool) {
	t.placeSpares(ctx, barred)
	for number, way := range t.S.Ways {
		if way >= model.GangOptions && way%2 == 0 {
			state.ChoosingOf(&t.S).Choose(int32(number), way+1)
		}
	}
}

// placeGang places the number of members that the gang needs, in the cheapest domain with room for them. If no domain has room for them, it
// places nothing and returns false. Preferences are kept if the premium allows it. A family is placed as a whole when its first gang is
// placed: see placesFamily.
func (t Gangs) placeGang(ctx context.Context, number int32) bool {
	g := &t.M.Gangs.List[number]
	if t.S.Ways[number] != model.GangWithheld || !g.Plannable(t.M.Snapshot) {
		return false
	}
	if family := t.familyOf(number); family != nil {
		return t.placesFamily(number, family) && t.PlaceFamily(ctx, family)
	}
	aside, base := state.ChoosingOf(&t.S).SetAside(t.RealClasses()), t.Mark().At
	defer func() { state.ChoosingOf(&t.S).TakeBack(aside) }()
	if len(g.Levels) == 1 && len(g.Levels[0]) == 1 {
		before := t.Mark()
		fits := t.FitsOption(ctx, number, &g.Levels[0][0])
		if !fits {
			t.Undo(before)
		} else if g.Needed > 0 {
			t.Settled = &base // new nodes opened before the mark base are already the cheapest that hold their pods: see Trial.Settled
		}
		return fits
	}
	best := t.wishedOption(ctx, number, g.Levels)
	if best == nil {
		return false
	}
	state.ChoosingOf(&t.S).Choose(number, best.option.Way)
	t.Restore(best.done)
	if g.Needed > 0 {
		t.Settled = &base // new nodes opened before the mark base are already the cheapest that hold their pods: see Trial.Settled
	}
	return true
}

// wishedOption returns the option that keeps the most preferences. Its cost exceeds the cost of the cheapest option by at most the premium.
// It returns nil if the gang has no place. levels has the options by the number of kept preferences, like Gang.Levels.
func (t Gangs) wishedOption(ctx context.Context, number int32, levels [][]model.GangOption) *gangTrial {
	wishes := len(levels) - 1
	if t.Options.Preferences == planning.PreferencesIgnore {
		wishes = 0
	}
	best, _ := gangs.MostWishes(wishes, t.Options.Premium(), func(kept int) (*gangTrial, error) {
		return t.cheapestOption(ctx, number, levels[kept]), nil
	}, func(g *gangTrial) int64 { return g.cost })
	return best
}

// gangTrial records how a gang was placed in a domain.
type gangTrial struct {
	option *model.GangOption
	cost   int64
	done   state.Record
}

// cheapestOption returns the cheapest option with room for the pods that the gang needs, or nil if no option has room for these pods. It
// leaves the trial unchanged.
func (t Gangs) cheapestOption(ctx context.Context, number int32, options []model.GangOption) *gangTrial {
	var best *gangTrial
	for _, at := range t.Likeliest(number, options) {
		o := &options[at]
		before, cost := t.Mark(), newnodes.Of(t.Trial).NewCost()
		if t.FitsOption(ctx, number, o) {
			if cost := newnodes.Of(t.Trial).NewCost() - cost; best == nil || cost < best.cost {
				best = &gangTrial{o, cost, t.S.Record(before.At)}
			}
		}
		t.Undo(before)
		if best != nil && best.cost == 0 || ctx.Err() != nil {
			break
		}
	}
	return best
}

// FitsOption places, for the option, the pods that the gang needs. It returns false if some of these pods do not fit.
func (t Gangs) FitsOption(ctx context.Context, number int32, o *model.GangOption) bool {
	for _, share := range t.M.Gangs.Ways[number].Ways[o.Way] {
		c := t.M.Classes[share.Class]
		if c.Invalid != nil || len(c.Stages) == 0 && t.RoomFor(share.Class, int(share.Count)) < int(share.Count) {
			return false
		}
	}
	return t.FillOption(ctx, number, o)
}

// FillOption places, for the option, as many as possible of the pods that the gang needs. It returns false if some of these pods have no
// place.
func (t Gangs) FillOption(ctx context.Context, number int32, o *model.GangOption) bool {
	state.ChoosingOf(&t.S).Choose(number, o.Way)
	classes := classesOf(t.M.Gangs.Ways[number].Ways[o.Way])
	if len(classes) > 0 {
		t.placeReal(ctx, classes)
		t.admitDevices(ctx)
	}
	return !slices.ContainsFunc(classes, func(class int32) bool { return t.S.Waiting[class] > 0 })
}

func classesOf(list []state.Share) []int32 {
	out := make([]int32, len(list))
	for i, share := range list {
		out[i] = share.Class
	}
	return out
}

// Likeliest returns the indexes of the options to try. Options whose domains have room for the gang on existing nodes come first, the
// fullest domain first. The other options follow, the domain with the most room first.
func (t Gangs) Likeliest(number int32, options []model.GangOption) []int {
	out := make([]int, len(options))
	for i := range out {
		out[i] = i
	}
	if len(options) == 1 {
		return out
	}
	need := t.M.Gangs.List[number].Needed
	room := make([]int, len(options))
	for i := range options {
		if need > 0 {
			room[i] = t.RoomFor(options[i].Classes[0], 2*need)
		}
	}
	slices.SortStableFunc(out, func(a, b int) int {
		if holdsA, holdsB := room[a] >= need, room[b] >= need; holdsA != holdsB {
			return model.BoolCompare(holdsB, holdsA)
		} else if holdsA {
			return cmp.Compare(room[a], room[b])
		}
		return cmp.Compare(room[b], room[a])
	})
	return out[:min(len(out), mostGangDomains)]
}

// RoomFor returns how many pods of the class existing nodes could take, limited to the parameter most. It ignores rules between pods.
func (t Gangs) RoomFor(class int32, most int) int {
	c, room := t.M.Classes[class], 0
	for i := range t.S.Room.Usable.Members {
		if room >= most {
			break
		}
		if t.M.Fits.Accepts(t.M.Nodes[i].Group, c.Shape) {
			room += resources.HowMany(c.Unshared(), t.S.Room.Of(int32(i)), most-room)
		}
	}
	return room
}

// brokenGangs returns the placed gangs that have fewer placed members than they need.
func (t Gangs) brokenGangs() []int32 {
	x := t.M.Gangs
	spare := map[int32]int32{}
	for class := range t.M.Classes {
		if n := t.S.Waiting[class]; n > 0 {
			spare[int32(class)] = n
		}
	}
	if len(spare) == 0 {
		return nil
	}
	for number, way := range t.S.Ways { // members beyond the minimum and pods without a gang may stay pending
		if g := &x.List[number]; way >= model.GangOptions && way%2 == 1 {
			for _, class := range g.Option(way).Classes[g.Needed:] {
				spare[class]--
			}
		}
	}
	for class, n := range spare {
		if n > 0 {
			spare[class] = n - int32(len(t.M.Singles(class))) - t.freedOf(class)
		}
	}
	var out []int32
	for _, number := range slices.Backward(x.Order) {
		way := t.S.Ways[number]
		if way < model.GangOptions {
			continue
		}
		for _, share := range x.Ways[number].Ways[way&^1] {
			if spare[share.Class] > 0 {
				spare[share.Class] -= share.Count
				if !slices.Contains(out, number) {
					out = append(out, number)
				}
			}
		}
	}
	return out
}

// freedOf returns the number of pods of the class on hidden nodes.
func (t Gangs) freedOf(class int32) (n int32) {
	for i := range t.S.Freed {
		if t.S.Freed[i].Class == class {
			n++
		}
	}
	return n
}
