package searching

import (
	"cmp"
	"context"
	"slices"

	"github.com/drawknife/drawknife/internal/consolidate/pseudorandom"
	"github.com/drawknife/drawknife/internal/consolidate/removing"
	"github.com/drawknife/drawknife/internal/consolidate/searchcontext"
)

// groups is the part of a search that chooses nodes to go together.
type groups struct{ *Search }

// alike returns the free candidates, grouped by zone, pool and capacity type, whose pods can probably go together; within each group, those
// that waste most come first.
func (g groups) alike() []*searchcontext.Candidate {
	list := g.free()
	slices.SortStableFunc(list, func(a, b *searchcontext.Candidate) int {
		return cmp.Or(cmp.Compare(a.Zone, b.Zone), a.Pool.Key.Compare(b.Pool.Key), cmp.Compare(a.CapacityType, b.CapacityType), cmp.Compare(g.waste(b), g.waste(a)))
	})
	return list
}

// rebuild exchanges groups of nodes for new ones that hold all their pods, before it uses room on other nodes: if nodes are of an
// unsuitable type or badly filled, new ones cost less than what remains of the old ones. Groups consist of similar candidates.
func (g groups) rebuild(ctx context.Context) error {
	return g.tryEach(ctx, &rebuilt{list: g.alike()})
}

// exchangeWhole exchanges groups of nodes, as large as a command may be, for what provisioning would launch for all their pods. Its search
// considers all of them at once; exchanging small groups one after another leaves some room unused each time. A group has similar
// candidates, if there are enough, and groups have about the same size.
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

// together returns the number of first candidates that form a group.
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

// exchange looks for groups of nodes that could be replaced by fewer or smaller, cheaper ones. Seeds come in the order of waste, partners
// from near them in that order, at random; each seed gets a few draws.
func (g groups) exchange(ctx context.Context) error {
	list := g.free()
	slices.SortStableFunc(list, func(a, b *searchcontext.Candidate) int { return cmp.Compare(g.waste(b), g.waste(a)) })
	return g.tryEach(ctx, &drawnGroups{list: list})
}

const (
	// groupDraws is how many groups are tried for each seed.
	groupDraws = 3
	// groupReach is how far from the seed, in the order of waste, to look for partners, in group sizes.
	groupReach = 4
)

// drawGroup returns the seed with partners that are still free: more with each draw, from two to as many as a command may remove. The
// choice depends on what partners are like and not on their number. So the next plan draws the same groups of unchanged nodes, and does not
// find by luck what this one has missed.
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

// drawnCandidate is a candidate with the number that decides whether it is drawn.
type drawnCandidate struct {
	*searchcontext.Candidate
	key uint64
}

// likeness is equal for nodes that were bought as the same offering and whose pods have the same value, except for rounding.
func (s *Search) likeness(c *searchcontext.Candidate) uint64 {
	like := pseudorandom.Source(c.Likeness ^ uint64(s.worthOn(c)>>12))
	return like.Draw()
}
