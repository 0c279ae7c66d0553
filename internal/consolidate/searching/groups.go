package searching

import (
	"cmp"
	"context"
	"slices"

	"github.com/drawknife/drawknife/internal/consolidate/pseudorandom"
	"github.com/drawknife/drawknife/internal/consolidate/removing"
	"github.com/drawknife/drawknife/internal/consolidate/searchcontext"
)

// groups is the part of a search that chooses nodes to remove together.
type groups struct{ *Search }

// alike returns the free candidates, sorted by zone, pool, capacity type and descending waste. In this order, candidates whose pods can
// probably be moved together are next to each other.
func (g groups) alike() []*searchcontext.Candidate {
	list := g.free()
	slices.SortStableFunc(list, func(a, b *searchcontext.Candidate) int {
		return cmp.Or(cmp.Compare(a.Zone, b.Zone), a.Pool.Key.Compare(b.Pool.Key), cmp.Compare(a.CapacityType, b.CapacityType), cmp.Compare(g.waste(b), g.waste(a)))
	})
	return list
}

// rebuild exchanges groups of nodes for new nodes that hold all pods of the group. It runs before the search uses free room on other nodes.
// If the nodes have an unsuitable type or much free room, the new nodes may cost less than the old nodes that would otherwise remain.
// Groups consist of similar candidates.
func (g groups) rebuild(ctx context.Context) error {
	return g.tryEach(ctx, &rebuilt{list: g.alike()})
}

// exchangeWhole exchanges groups of nodes, as large as a command may be, for the nodes that provisioning would launch for all their pods.
// It tries all nodes of a group at once. Exchanging small groups one after another leaves some room unused each time. A group has only
// similar candidates, if enough of them are next to each other in the list that g.alike returns. All groups have about the same size.
func (g groups) exchangeWhole(ctx context.Context) error {
	for list := g.alike(); len(list) > 0; {
		n := g.together(list)
		if err := g.tryGroup(ctx, list[:n:n], removing.LikeProvisioning); err != nil {
			return err
		}
		if list = list[n:]; g.Work > g.most {
			return nil
		}
	}
	return nil
}

// together returns the size of the next group. The group has the first candidates of the list.
func (g groups) together(list []*searchcontext.Candidate) int {
	parts := (len(list) + g.MaxMembers - 1) / g.MaxMembers
	n := (len(list) + parts - 1) / parts
	for ; g.Refining && n > 1; n-- {
		if g.Together(list[:n]).Members <= g.MaxMembers {
			break
		}
	}
	return n
}

// exchange looks for groups of nodes that can be replaced by fewer, smaller or cheaper nodes. Candidates become the first node of a group
// (its seed) in descending order of waste. The seed's partners are drawn at random from the candidates that follow it in this order. For
// each seed, groupDraws groups are drawn.
func (g groups) exchange(ctx context.Context) error {
	list := g.free()
	slices.SortStableFunc(list, func(a, b *searchcontext.Candidate) int { return cmp.Compare(g.waste(b), g.waste(a)) })
	return g.tryEach(ctx, &drawnGroups{list: list})
}

const (
	// groupDraws is the number of groups that are drawn for each seed. A seed is a candidate that is in the group.
	groupDraws = 3
	// groupReach limits from which candidates the group of a seed is drawn: from the groupReach*Exchanged candidates that follow the seed
	// in the list.
	groupReach = 4
)

// drawGroup returns the seed list[at] and partners that can still be removed. The size of the group grows with the number of the draw, from
// two to Exchanged. The choice depends on the likeness of the candidates, not on Candidate.Number. So the next plan draws the same groups
// if their nodes are unchanged. With other draws, the next plan could find by chance a group that this plan has missed.
func (s *Search) drawGroup(list []*searchcontext.Candidate, at, draw int) []*searchcontext.Candidate {
	size := []int{2, (s.Exchanged() + 2) / 2, s.Exchanged()}[draw%groupDraws]
	random := pseudorandom.Source(s.settings.Seed ^ uint64(s.strategy.roomWeight)<<32 ^ uint64(draw) ^ s.strategy.seed<<20 ^ s.likeness(list[at]))
	mixed, near := random.Draw(), s.near[:0]
	defer func() { s.near = near }()
	for _, c := range list[at+1:] {
		if s.open(c) {
			key := pseudorandom.Source(mixed ^ s.likeness(c))
			near = append(near, drawnCandidate{c, key.Draw()})
		}
		if len(near) == groupReach*s.Exchanged() {
			break
		}
	}
	slices.SortStableFunc(near, func(a, b drawnCandidate) int { return cmp.Compare(a.key, b.key) })
	group := []*searchcontext.Candidate{list[at]}
	for _, d := range near[:min(len(near), size-1)] {
		group = append(group, d.Candidate)
	}
	return group
}

// drawnCandidate is a candidate with its random key. The candidates with the lowest keys are drawn.
type drawnCandidate struct {
	*searchcontext.Candidate
	key uint64
}

// likeness returns a hash. It is equal for candidates with equal Candidate.Likeness whose pods have about the same value.
func (s *Search) likeness(c *searchcontext.Candidate) uint64 {
	like := pseudorandom.Source(c.Likeness ^ uint64(s.worthOn(c)>>12))
	return like.Draw()
}
