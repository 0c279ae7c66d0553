package solving

import (
	"cmp"
	"context"
	"slices"

	"github.com/drawknife/drawknife/internal/engine/model"
	"github.com/drawknife/drawknife/internal/engine/newnodes"
	"github.com/drawknife/drawknife/internal/engine/state"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// Either all gangs of one parent are placed, or none: each in its own domain, and all within one domain of the topology that they share.
// All combinations of domains are tried. If there are few combinations, all pods of each combination are packed together. If there are
// many, the gangs are placed one after the other, each in the domains that remain for it, at most mostFamilyTries times. The cheapest
// result is kept.

const (
	// mostFamilyTries limits the attempts to place gangs of a family in domains; each domain that they could share gets a part of these
	// attempts.
	mostFamilyTries = 512
	// mostJointTries limits the combinations within a shared domain for which all pods are packed together.
	mostJointTries = 64
)

// familyOf returns the gang's family, or nil if it has none.
func (t Gangs) familyOf(number int32) *model.Family {
	if at := t.M.Gangs.List[number].Family; at >= 0 {
		return &t.M.Gangs.Families[at]
	}
	return nil
}

// PlaceFamily places all gangs that the family needs, as cheaply as possible. It returns false if they have no place together; then gangs
// that are complete without the pending pods are placed separately.
func (t Gangs) PlaceFamily(ctx context.Context, family *model.Family) bool {
	x := t.M.Gangs
	for _, number := range family.Needed {
		if t.S.Ways[number] != model.GangWithheld || !x.List[number].Plannable(t.M.Snapshot) || len(x.List[number].Levels[0]) == 0 {
			return t.placeComplete(ctx, family)
		}
	}
	aside := state.ChoosingOf(&t.S).SetAside(t.RealClasses())
	best := t.cheapestTogether(ctx, family)
	if best != nil {
		for i, number := range best.order {
			state.ChoosingOf(&t.S).Choose(number, best.ways[i])
		}
		t.Restore(best.done)
	}
	state.ChoosingOf(&t.S).TakeBack(aside)
	return best != nil || t.placeComplete(ctx, family)
}

// placeComplete chooses a domain for those gangs of the family that need no more places: their members run, and others may follow them. It returns
// false, since the family as a whole has no place.
func (t Gangs) placeComplete(ctx context.Context, family *model.Family) bool {
	for _, number := range family.Needed {
		g := &t.M.Gangs.List[number]
		if g.Needed > 0 || t.S.Ways[number] != model.GangWithheld || len(g.Levels[0]) == 0 {
			continue
		}
		state.ChoosingOf(&t.S).Choose(number, g.Levels[0][0].Way)
	}
	return false
}

// together searches for the cheapest places for the gangs of a family.
type together struct {
	Gangs
	// order contains the gangs; those that need the most pods come first.
	order []int32
	// ways are the ways chosen so far; tries is the number of remaining attempts.
	ways  []int32
	tries int
	// start is the trial before the search, and the cost of its new nodes.
	start state.Mark
	cost  int64
	best  *togetherTrial
}

// togetherTrial records how a family was placed.
type togetherTrial struct {
	order, ways []int32
	cost        int64
	done        state.Record
}

// cheapestTogether returns the cheapest combination that was found, or nil if there is none. It restores the trial.
func (t Gangs) cheapestTogether(ctx context.Context, family *model.Family) *togetherTrial {
	x := t.M.Gangs
	s := &together{Gangs: t, order: slices.Clone(family.Needed), start: t.Mark().At, cost: newnodes.Of(t.Trial).NewCost()}
	slices.SortStableFunc(s.order, func(a, b int32) int { return cmp.Compare(x.List[b].Needed, x.List[a].Needed) })
	domains := t.sharedDomains(s.order)
	for _, shared := range domains {
		s.tries = max(mostFamilyTries/len(domains), 2*len(s.order))
		if lists := s.optionsIn(shared); combinations(lists) <= min(s.tries, mostJointTries) {
			s.jointly(ctx, lists)
		} else {
			s.from(ctx, 0, shared)
		}
		if s.best != nil && s.best.cost == 0 || ctx.Err() != nil {
			break
		}
	}
	return s.best
}

// sharedDomains returns the domains that all gangs could share, in the order of the first gang's domains.
func (t Gangs) sharedDomains(order []int32) (out [][]planning.GangDomain) {
	of := func(number int32, yield func([]planning.GangDomain) bool) {
		g := &t.M.Gangs.List[number]
		for i := range g.Levels[0] {
			if !yield(g.Levels[0][i].Domains[:g.Source.Shared]) {
				return
			}
		}
	}
	of(order[0], func(shared []planning.GangDomain) bool {
		if slices.ContainsFunc(out, func(known []planning.GangDomain) bool { return slices.Equal(known, shared) }) {
			return true
		}
		for _, number := range order[1:] {
			open := false
			of(number, func(other []planning.GangDomain) bool {
				open = slices.Equal(other, shared)
				return !open
			})
			if !open {
				return true
			}
		}
		out = append(out, shared)
		return true
	})
	return out
}

// from places the gangs from the given number on, in each domain within the shared one.
func (s *together) from(ctx context.Context, at int, shared []planning.GangDomain) {
	if at == len(s.order) {
		s.best = &togetherTrial{s.order, slices.Clone(s.ways), newnodes.Of(s.Trial).NewCost() - s.cost, s.S.Record(s.start)}
		return
	}
	number := s.order[at]
	options := within(s.M.Gangs.List[number].Levels[0], shared)
	for _, i := range s.Likeliest(number, options) {
		if s.tries--; s.tries < 0 || ctx.Err() != nil {
			return
		}
		before := s.Mark()
		if s.FitsOption(ctx, number, &options[i]) && (s.best == nil || newnodes.Of(s.Trial).NewCost()-s.cost < s.best.cost) {
			s.ways = append(s.ways, options[i].Way)
			s.from(ctx, at+1, shared)
			s.ways = s.ways[:at]
		}
		s.Undo(before)
		if s.best != nil && s.best.cost == 0 {
			return
		}
	}
}

// optionsIn returns the options of each gang within the shared domain, the likeliest first.
func (s *together) optionsIn(shared []planning.GangDomain) [][]model.GangOption {
	out := make([][]model.GangOption, len(s.order))
	for i, number := range s.order {
		options := within(s.M.Gangs.List[number].Levels[0], shared)
		for _, at := range s.Likeliest(number, options) {
			out[i] = append(out[i], options[at])
		}
	}
	return out
}

// combinations counts the ways to choose one element of each list, up to one more than the limit of attempts.
func combinations(lists [][]model.GangOption) int {
	n := 1
	for _, list := range lists {
		if n *= len(list); n > mostJointTries {
			return n
		}
	}
	return n
}

// jointly packs the pods of all gangs together, in each combination of their options.
func (s *together) jointly(ctx context.Context, lists [][]model.GangOption) {
	chosen := make([]int, len(lists))
	for ctx.Err() == nil && (s.best == nil || s.best.cost > 0) {
		before := s.Mark()
		ways := make([]int32, len(lists))
		for i := range lists {
			ways[i] = lists[i][chosen[i]].Way
		}
		if s.fill(ctx, ways) {
			if cost := newnodes.Of(s.Trial).NewCost() - s.cost; s.best == nil || cost < s.best.cost {
				s.best = &togetherTrial{s.order, ways, cost, s.S.Record(s.start)}
			}
		}
		s.Undo(before)
		at := 0
		for ; at < len(lists); at++ {
			if chosen[at]++; chosen[at] < len(lists[at]) {
				break
			}
			chosen[at] = 0
		}
		if at == len(lists) {
			return
		}
	}
}

// fill places the pods that all gangs need in the chosen ways. It returns false if some of them have no place.
func (s *together) fill(ctx context.Context, ways []int32) bool {
	var classes []int32
	for i, number := range s.order {
		state.ChoosingOf(&s.S).Choose(number, ways[i])
		for _, class := range classesOf(s.M.Gangs.Ways[number].Ways[ways[i]]) {
			if s.M.Classes[class].Invalid != nil {
				return false
			}
			if !slices.Contains(classes, class) {
				classes = append(classes, class)
			}
		}
	}
	if len(classes) > 0 {
		s.placeReal(ctx, classes)
		s.admitDevices(ctx)
	}
	return !slices.ContainsFunc(classes, func(class int32) bool { return s.S.Waiting[class] > 0 })
}

// within returns the options in the given domains.
func within(options []model.GangOption, shared []planning.GangDomain) (out []model.GangOption) {
	for i := range options {
		if slices.Equal(options[i].Domains[:len(shared)], shared) {
			out = append(out, options[i])
		}
	}
	return out
}

// placeSpares places gangs that the parent does not need to be complete, in the domain of its other gangs.
func (t Gangs) placeSpares(ctx context.Context, barred map[int32]bool) {
	x := t.M.Gangs
	for f := range x.Families {
		family := &x.Families[f]
		shared, placed := t.domainsOf(family)
		for _, number := range family.Spare {
			g := &x.List[number]
			if !placed || barred[number] || t.S.Ways[number] != model.GangWithheld || !g.Plannable(t.M.Snapshot) {
				continue
			}
			aside := state.ChoosingOf(&t.S).SetAside(t.RealClasses())
			if best := t.cheapestOption(ctx, number, within(g.Levels[0], shared)); best != nil {
				state.ChoosingOf(&t.S).Choose(number, best.option.Way)
				t.Restore(best.done)
			}
			state.ChoosingOf(&t.S).TakeBack(aside)
		}
	}
}

// domainsOf returns the domains that the gangs of the family share. It returns false if some gangs that the family needs have no place.
func (t Gangs) domainsOf(family *model.Family) (shared []planning.GangDomain, placed bool) {
	for _, number := range family.Needed {
		g := &t.M.Gangs.List[number]
		o := g.Option(t.S.Ways[number])
		if o == nil {
			return nil, false
		}
		shared = o.Domains[:g.Source.Shared]
	}
	return shared, true
}
