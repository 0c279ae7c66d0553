package searching

import (
	"cmp"
	"context"
	"slices"

	"github.com/drawknife/drawknife/disruption/decision"
	"github.com/drawknife/drawknife/internal/consolidate/removing"
	"github.com/drawknife/drawknife/internal/consolidate/searchcontext"
	"github.com/drawknife/drawknife/internal/engine/gangs"
	"github.com/drawknife/drawknife/internal/engine/trial"
)

// removeTied removes groups of nodes that can only be removed together, because a gang on them is moved as a whole. For each group and each
// possible move of its gangs, it tries two removals. The first removal puts pods in free room of existing nodes if possible (UseRoom). The
// second removal puts all pods on new nodes as provisioning would (LikeProvisioning). removeTied executes the removal with the highest
// value.
func (s *Search) removeTied(ctx context.Context) error {
	limit := min(s.most, s.Work+s.most/tiedShare)
	for _, group := range s.tied() {
		if s.Work > limit {
			s.Types.Waiting = true
			return nil
		}
		if most := max(s.MaxMembers, s.Merged()); len(group) > most {
			for _, c := range group {
				s.why[c.Name] = c.Tie.TooMany(c.Candidate, most)
			}
			continue
		}
		if err := s.tryTied(ctx, group); err != nil {
			return err
		}
	}
	return nil
}

// tiedShare limits each call of removeTied to 1/tiedShare of the what-ifs of a search.
const tiedShare = 8

// tryTied tries the possible removals of the group and executes the removal with the highest value. If no removal is worth it, it records
// the block. If only one move of the gangs is possible, it executes the first removal that is worth it.
func (s *Search) tryTied(ctx context.Context, group []*searchcontext.Candidate) error {
	ways := s.waysOf(group)
	if len(ways) == 0 {
		s.keep(group, removing.UseRoom, group[0].Tie.Nowhere())
		return nil
	}
	if len(ways) == 1 {
		for _, r := range removals(searchcontext.MethodFor(group), group, ways) {
			if err := s.tryRemoval(ctx, r); err != nil || s.gone[group[0]] {
				return err
			}
		}
		return nil
	}
	best, why, err := s.bestWay(ctx, searchcontext.MethodFor(group), group, ways)
	switch {
	case err != nil:
		return err
	case best != nil:
		return s.tryRemoval(ctx, *best)
	case why != nil:
		s.keep(group, removing.UseRoom, why)
	}
	return nil
}

// look is the result of a removal that was tried on the trial and undone. kept is the number of preferred domains that the removal keeps.
// cost is the cost of its new nodes, in nano-USD per hour.
type look struct {
	removal removing.Removal
	kept    int
	cost    int64
}

// bestWay considers only the moves that keep as many preferred domains as the premium allows, as provisioning does. Of these moves it
// returns the removal with the highest value. If no removal is worth it, it returns nil and a block. It leaves the trial unchanged. To find
// out how many preferences the premium allows, bestWay ignores whether a move is worth it. So it does not give up a preference within the
// premium for a saving.
func (s *Search) bestWay(ctx context.Context, method decision.Method, group []*searchcontext.Candidate, ways []*trial.GangWay) (*removing.Removal, *decision.Block, error) {
	wishes := trial.Wishes(ways, s.Query)
	if wishes == 0 {
		return s.bestOf(ctx, removals(method, group, trial.Keeping(ways, 0)))
	}
	var why *decision.Block
	best, err := gangs.MostWishes(wishes, s.Query.Premium(), func(kept int) (*look, error) {
		list := trial.Keeping(ways, kept)
		if kept > 0 {
			return s.cheapestOf(ctx, removals(decision.MethodDrift, group, list), kept)
		}
		r, first, err := s.bestOf(ctx, removals(method, group, list))
		if why = first; r == nil || err != nil {
			return nil, err
		}
		return s.cheapestOf(ctx, []removing.Removal{*r}, kept)
	}, func(l *look) int64 { return l.cost })
	switch {
	case err != nil || best == nil:
		return nil, why, err
	case best.kept > 0 && method != decision.MethodDrift:
		return s.bestOf(ctx, removals(method, group, trial.Keeping(ways, best.kept)))
	}
	return &best.removal, nil, nil
}

// cheapestOf returns the removal of the list with the lowest cost of new nodes, or nil if no removal is possible. It does not check whether
// the removal is within the limits of a command.
func (s *Search) cheapestOf(ctx context.Context, list []removing.Removal, kept int) (best *look, err error) {
	for _, r := range list {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		s.Work++
		st, why, err := s.within(ctx, r)
		if err != nil {
			return nil, err
		}
		if why != nil {
			continue
		}
		if cost := searchcontext.PriceOf(r.Members) - st.Saving; best == nil || cost < best.cost {
			best = &look{r, kept, cost}
		}
	}
	return best, nil
}

// waysOf returns the possible moves of the group's gangs.
func (s *Search) waysOf(group []*searchcontext.Candidate) []*trial.GangWay {
	if group[0].Tie == nil {
		return []*trial.GangWay{nil}
	}
	return trial.WaysOf(s.Model, group[0].Tie.Gangs)
}

// removals returns two removals of the group for each possible move of its gangs, one with UseRoom and one with LikeProvisioning.
func removals(method decision.Method, group []*searchcontext.Candidate, ways []*trial.GangWay) (out []removing.Removal) {
	for _, way := range ways {
		for _, where := range []removing.Places{removing.UseRoom, removing.LikeProvisioning} {
			out = append(out, removing.Removal{Method: method, Members: group, Where: where, Way: way})
		}
	}
	return out
}

// bestOf returns the removal of the list with the highest value. If no removal is worth it, it returns nil and the block of the first
// removal that failed. It leaves the trial unchanged.
func (s *Search) bestOf(ctx context.Context, list []removing.Removal) (best *removing.Removal, first *decision.Block, err error) {
	value := int64(0)
	for i := range list {
		r := &list[i]
		if !s.worthTrying(*r) {
			continue
		}
		s.Withheld = false
		st, why, err := s.lookAtRemoval(ctx, *r)
		if err != nil {
			return nil, nil, err
		}
		if why != nil {
			s.noteTried(*r)
			first = cmp.Or(first, why)
			continue
		}
		if best == nil || st.Value > value {
			best, value = r, st.Value
		}
	}
	return best, first, nil
}

// lookAtRemoval tries the removal. It returns the step that the removal would become, or a block. It leaves the trial unchanged.
func (s *Search) lookAtRemoval(ctx context.Context, r removing.Removal) (*removing.Step, *decision.Block, error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	if s.Work++; s.Work > s.most && r.Method != decision.MethodDrift {
		s.Types.Waiting = true
		return nil, &decision.Block{Code: decision.BlockNotReached}, nil
	}
	if why := s.Admissible(r); why != nil {
		return nil, why, nil
	}
	return s.within(ctx, r)
}

// within tries the removal by calling TryWithin, undoes it, and returns the result of TryWithin.
func (s *Search) within(ctx context.Context, r removing.Removal) (*removing.Step, *decision.Block, error) {
	mark := s.Trial.Mark()
	st, why, err := s.TryWithin(ctx, r, mark)
	if back := s.Trial.Rollback(mark); err == nil {
		err = back
	}
	return st, why, err
}

// driftTied removes the group because one of its nodes has drifted, or returns the block that keeps the group.
func (s *Search) driftTied(ctx context.Context, group []*searchcontext.Candidate) (*decision.Block, error) {
	ways := s.waysOf(group)
	switch len(ways) {
	case 0:
		return group[0].Tie.Nowhere(), nil
	case 1:
		return s.attempt(ctx, removing.Removal{Method: decision.MethodDrift, Members: group, Where: removing.UseRoom, Way: ways[0]})
	}
	best, why, err := s.bestWay(ctx, decision.MethodDrift, group, ways)
	if err != nil || best == nil {
		return cmp.Or(why, &decision.Block{Code: decision.BlockNotReached}), err
	}
	return s.attempt(ctx, *best)
}

// tied returns the groups of nodes that must be removed together and can still be consolidated, sorted by descending waste.
func (s *Search) tied() [][]*searchcontext.Candidate {
	considered := map[*searchcontext.Candidate]bool{}
	for _, c := range s.considered {
		considered[c] = true
	}
	var out [][]*searchcontext.Candidate
	for _, t := range s.Fleet.Ties {
		group := s.WithTied(s.ByName[t.Members[0].Name])
		if !slices.ContainsFunc(group, func(c *searchcontext.Candidate) bool { return c.Blocked != nil || !s.open(c) }) &&
			slices.ContainsFunc(group, func(c *searchcontext.Candidate) bool { return considered[c] }) {
			out = append(out, group)
		}
	}
	waste := func(group []*searchcontext.Candidate) (sum int64) {
		for _, c := range group {
			sum += s.waste(c)
		}
		return sum
	}
	slices.SortStableFunc(out, func(a, b []*searchcontext.Candidate) int { return cmp.Compare(waste(b), waste(a)) })
	return out
}

// tiedBlock returns the given block for a node. If the node must be removed together with other nodes, the block also says this.
func tiedBlock(c *searchcontext.Candidate, why *decision.Block) *decision.Block {
	if c.Tie == nil || why.Code == decision.BlockNotReached {
		return why
	}
	return c.Tie.Block(c.Candidate, why)
}

// causeOf returns the cause of a block. For a gang, the cause is the block of the node that keeps the whole gang. For other blocks, causeOf
// returns the block itself.
func causeOf(why *decision.Block) *decision.Block {
	if why.Code == decision.BlockGang && why.Because != nil {
		return why.Because
	}
	return why
}
