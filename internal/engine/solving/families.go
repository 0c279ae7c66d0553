package solving

import (
	"context"
	"slices"

	"github.com/drawknife/drawknife/internal/engine/gangs"
	"github.com/drawknife/drawknife/internal/engine/model"
	"github.com/drawknife/drawknife/internal/engine/newnodes"
	"github.com/drawknife/drawknife/internal/engine/state"
)

// The gangs of one family are placed all together or not at all. Each gang gets its own domain, and all gangs of a group are within one
// domain of the topology that the group shares. A family that is spare within another family is placed after that family, in the domains
// that both families share.

// familyOf returns the gang's family, or nil if it has none.
func (t Gangs) familyOf(number int32) *gangs.Family {
	if at := t.M.Gangs.List[number].Family; at >= 0 {
		return &t.M.Gangs.Families[at]
	}
	return nil
}

// placesFamily reports whether the planner places the family when it comes to this gang. The gang must be the first of the family, and the
// family must not be spare within a family that has gangs. placeSpares places such spare families.
func (t Gangs) placesFamily(number int32, family *gangs.Family) bool {
	if number != family.Needed[0] {
		return false
	}
	for at := family.Within; at >= 0; at = t.M.Gangs.Families[at].Within {
		if len(t.M.Gangs.Families[at].Needed) > 0 {
			return false
		}
	}
	return true
}

// PlaceFamily places all gangs that the family needs, as cheaply as possible. It returns false if not all of these gangs can have a place.
// In this case, gangs that are complete without the pending pods get a domain separately.
func (t Gangs) PlaceFamily(ctx context.Context, family *gangs.Family) bool {
	x := t.M.Gangs
	for _, number := range family.Needed {
		if t.S.Ways[number] != model.GangWithheld || !x.List[number].Plannable(t.M.Snapshot) || len(x.List[number].Levels[0]) == 0 {
			return t.placeComplete(family)
		}
	}
	aside := state.ChoosingOf(&t.S).SetAside(t.RealClasses())
	best := t.bestTogether(ctx, family)
	if best != nil {
		for i, number := range best.order {
			state.ChoosingOf(&t.S).Choose(number, best.ways[i])
		}
		t.Restore(best.done)
	}
	state.ChoosingOf(&t.S).TakeBack(aside)
	return best != nil || t.placeComplete(family)
}

// placeComplete chooses a domain for those gangs of the family that need no further pods. Enough of their members run already, and further
// members may join them. placeComplete always returns false, because the family as a whole has no place.
func (t Gangs) placeComplete(family *gangs.Family) bool {
	if family.Within >= 0 {
		return false
	}
	for _, number := range family.Needed {
		g := &t.M.Gangs.List[number]
		if g.Needed > 0 || t.S.Ways[number] != model.GangWithheld || len(g.Levels[0]) == 0 {
			continue
		}
		state.ChoosingOf(&t.S).Choose(number, g.Levels[0][0].Way)
	}
	return false
}

// placeSpares places the families that are spare within other families.
func (t Gangs) placeSpares(ctx context.Context, barred map[int32]bool) {
	x := t.M.Gangs
	for f := range x.Families {
		if x.Families[f].Within < 0 {
			t.placeWithin(ctx, &x.Families[f], barred)
		}
	}
}

// placeWithin places the spare families of the family, if the family has a place.
func (t Gangs) placeWithin(ctx context.Context, family *gangs.Family, barred map[int32]bool) {
	x := t.M.Gangs
	if slices.ContainsFunc(family.Needed, func(number int32) bool { return x.List[number].Option(t.S.Ways[number]) == nil }) {
		return
	}
	for _, f := range family.Spare {
		spare := &x.Families[f]
		if !slices.ContainsFunc(spare.Needed, func(number int32) bool { return barred[number] }) && len(spare.Needed) > 0 {
			t.PlaceFamily(ctx, spare)
		}
		t.placeWithin(ctx, spare, barred)
	}
}

// If a family has several groups, the search from gang to gang could use all its attempts in a domain that is too small for one of the
// groups. Therefore the groups are first placed one after another. Each group is tried in all of its domains, with a part of the attempts
// for each domain, and stays in the domain with the lowest cost.

// groupByGroup places the groups below the common group, one after another. If the result is better than s.best, it replaces s.best.
// groupByGroup does nothing if there are no groups below the common group. It restores the trial at the end.
func (s *together) groupByGroup(ctx context.Context, common *sharing) {
	if !s.hasGroupsBelow(common) {
		return
	}
	before, at := s.Mark(), 0
	for at < len(s.order) && ctx.Err() == nil {
		end := s.placeGroup(ctx, common, at)
		if end == at {
			break
		}
		at = end
	}
	if cost := s.newCost(); at == len(s.order) && s.promising(s.kept, cost) {
		s.best = &togetherTrial{s.order, append([]int32(nil), s.ways...), cost, s.kept, s.S.Record(s.start)}
	}
	for i := range s.ways {
		s.drop(i)
	}
	s.ways, s.kept = s.ways[:0], 0
	s.Undo(before)
}

func (s *together) hasGroupsBelow(common *sharing) bool {
	return len(s.groups) > 0 && (common == nil || &s.groups[len(s.groups)-1] != common)
}

// groupBelow returns the outermost group, below the common group, of the gang with index at. It returns nil if there is no such group.
func (s *together) groupBelow(common *sharing, at int) *sharing {
	below := common == nil
	for _, in := range s.in[at] {
		if below {
			return &s.groups[in]
		}
		below = &s.groups[in] == common
	}
	return nil
}

// placeGroup places the gangs of one group: the group below common that contains the gang with index at. If there is no such group, it
// places only this gang. It returns the index of the gang after these, or the parameter at if these gangs have no place.
func (s *together) placeGroup(ctx context.Context, common *sharing, at int) (end int) {
	group := s.groupBelow(common, at)
	part := *s
	part.end, part.best = at+1, nil
	if group != nil {
		part.end = at + len(group.Members)
	}
	part.start, part.cost, part.most = s.Mark().At, newnodes.Of(s.Trial).NewCost(), s.kept+part.wishesFrom(at)
	part.limit = s.limit - s.newCost()
	domains := part.domainsOfGroup(group, at)
	for _, shared := range domains {
		part.tries = max(mostFamilyTries/len(domains), 2*(part.end-at))
		if group != nil {
			group.domains, group.chosen = shared, group.chosen+1
		}
		part.from(ctx, at)
		if group != nil {
			group.chosen--
		}
		if part.done() || ctx.Err() != nil {
			break
		}
	}
	if part.best == nil {
		return at
	}
	for i, way := range part.best.ways[at:] {
		number := s.order[at+i]
		state.ChoosingOf(&s.S).Choose(number, way)
		s.choose(at+i, s.M.Gangs.List[number].Option(way))
	}
	s.Restore(part.best.done)
	s.ways, s.kept = part.best.ways, part.best.kept
	return part.end
}
