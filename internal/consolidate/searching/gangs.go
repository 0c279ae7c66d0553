package searching

import (
	"cmp"
	"context"
	"slices"

	"github.com/drawknife/drawknife/disruption/decision"
	"github.com/drawknife/drawknife/internal/consolidate/removing"
	"github.com/drawknife/drawknife/internal/consolidate/searchcontext"
)

// removeTied removes nodes that only go together: those of a gang that is moved as a whole. Each such group is tried with the room that there
// is, and then with new nodes alone.
func (s *Search) removeTied(ctx context.Context) error {
	for _, group := range s.tied() {
		if most := max(s.MaxMembers, s.Merged()); len(group) > most {
			for _, c := range group {
				s.why[c.Name] = c.Tie.TooMany(c.Candidate, most)
			}
			continue
		}
		for _, where := range []removing.Places{removing.UseRoom, removing.LikeProvisioning} {
			if err := s.tryGroup(ctx, group, where); err != nil {
				return err
			}
			if s.gone[group[0]] {
				break
			}
		}
		if s.Work > s.most {
			return nil
		}
	}
	return nil
}

// tied are the groups that could still be consolidated, those first that waste most.
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

// tiedBlock is the block of a node of a group that can't be consolidated: nodes that only go together say so.
func tiedBlock(c *searchcontext.Candidate, why *decision.Block) *decision.Block {
	if c.Tie == nil || why.Code == decision.BlockNotReached {
		return why
	}
	return c.Tie.Block(c.Candidate, why)
}

// causeOf is what keeps the node, or the gang on it as a whole.
func causeOf(why *decision.Block) *decision.Block {
	if why.Code == decision.BlockGang && why.Because != nil {
		return why.Because
	}
	return why
}
