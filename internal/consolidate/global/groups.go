package global

import (
	"cmp"
	"context"
	"github.com/drawknife/drawknife/disruption/decision"
	"github.com/drawknife/drawknife/internal/consolidate/money"
	"hash/fnv"
	"slices"
)

// rebuild exchanges groups of nodes for new ones that hold all their pods, before room on other nodes is used: where nodes
// are of the wrong kind or badly filled, new ones cost less than what is left of the old ones. Groups are units of
// one zone, pool and capacity type, whose pods are likely to go together, that follow each other in the order of waste.
func (s *search) rebuild(ctx context.Context) error {
	list := s.free()
	slices.SortStableFunc(list, func(a, b *unit) int {
		return cmp.Or(cmp.Compare(a.Zone, b.Zone), a.Pool.Key.Compare(b.Pool.Key), cmp.Compare(a.CapacityType, b.CapacityType), cmp.Compare(s.waste(b), s.waste(a)))
	})
	return s.tryEach(ctx, &rebuilt{list: list})
}

// maxExchanged is how many nodes are exchanged at once at most, and for how many: more come together by one exchange upon
// another.
const maxExchanged = 8

func (s *search) exchanged() int { return min(s.MaxMembers, maxExchanged) }
func (s *search) launched() int  { return min(s.MaxBins, maxExchanged) }

// maxSubset is how many nodes bestSubset tries all sets of.
const maxSubset = 8

// bestSubset tries all sets of the first nodes, and takes the one that is worth most, of equals the one that moves fewest
// pods: where nodes are few, that is soon done, and nothing that goes node by node or by chance is as sure.
func (s *search) bestSubset(ctx context.Context) error {
	list := s.free()
	list = list[:min(len(list), maxSubset, s.exchanged())]
	type found struct {
		group []*unit
		value int64
		pods  int
	}
	var sets []found
	for set := 1; set < 1<<len(list); set++ {
		var group []*unit
		for i, u := range list {
			if set&(1<<i) != 0 {
				group = append(group, u)
			}
		}
		method := methodFor(group)
		if s.work++; s.admissible(method, group) != nil {
			continue
		}
		asked := s.question(method, group, useRoom)
		if asked.alone = true; s.vain.of(asked) != nil {
			continue
		}
		mark := s.trial.Mark()
		st, why, err := s.try(ctx, method, group, useRoom, mark)
		if err == nil {
			err = s.trial.Rollback(mark)
		}
		if err != nil {
			return err
		}
		if why == nil {
			sets = append(sets, found{group, st.value, st.pods})
		} else {
			s.vain.note(asked, vainAttempt{why: why})
		}
	}
	slices.SortStableFunc(sets, func(a, b found) int {
		return cmp.Or(cmp.Compare(b.value, a.value), cmp.Compare(a.pods, b.pods))
	})
	s.accepting = true
	defer func() { s.accepting = false }()
	for _, f := range sets {
		before := len(s.steps)
		if err := s.tryGroup(ctx, f.group, useRoom); err != nil || len(s.steps) > before {
			return err
		}
	}
	return nil
}

func methodFor(group []*unit) decision.Method {
	if len(group) == 1 {
		return decision.MethodSingleNode
	}
	return decision.MethodMultiNode
}

// worthOn is what the pods on the unit are worth, those that it has been given among them.
func (s *search) worthOn(u *unit) int64 { return u.worth + money.NanoUSD(s.received[u].Worth) }

// waste is what the unit costs beyond that.
func (s *search) waste(u *unit) int64 { return u.price - s.worthOn(u) }

// exchangeGroups looks for groups of nodes that cost less together as fewer or smaller ones: seeds by waste, partners near
// them in that order, drawn without a pattern; each seed gets a few draws.
func (s *search) exchangeGroups(ctx context.Context) error {
	list := s.free()
	slices.SortStableFunc(list, func(a, b *unit) int { return cmp.Compare(s.waste(b), s.waste(a)) })
	return s.tryEach(ctx, &drawnGroups{list: list})
}

const (
	// groupDraws is how many groups are tried for each seed.
	groupDraws = 3
	// groupReach is how far from the seed, in the order of waste, partners are looked for, in group sizes.
	groupReach = 4
)

// drawGroup is the seed with partners that are still free: more of them with each draw, from two to as many as a command may
// remove. Which ones goes by what they are like and not by their number, so that the next plan draws the same of nodes that
// stayed the same: it does not find by luck what this one has missed.
func (s *search) drawGroup(list []*unit, at, draw int) []*unit {
	size := []int{2, (s.exchanged() + 2) / 2, s.exchanged()}[draw%groupDraws]
	salt := dice(s.Seed ^ uint64(s.way.theta)<<32 ^ uint64(draw) ^ s.way.salt<<20 ^ s.likeness(list[at]))
	mixed, near := salt.draw(), s.near[:0]
	defer func() { s.near = near }()
	for _, u := range list[at+1:] {
		if !s.gone[u] && !s.fixed[u] {
			lot := dice(mixed ^ s.likeness(u))
			near = append(near, drawn{u, lot.draw()})
		}
		if len(near) == groupReach*s.exchanged() {
			break
		}
	}
	slices.SortStableFunc(near, func(a, b drawn) int { return cmp.Compare(a.lot, b.lot) })
	group := []*unit{list[at]}
	for _, d := range near[:min(len(near), size-1)] {
		group = append(group, d.unit)
	}
	return group
}

// drawn is a unit with its lot.
type drawn struct {
	*unit
	lot uint64
}

// likeness is the same for nodes that are bought alike, with pods of the same worth as far as rounding lets that be told.
func (s *search) likeness(u *unit) uint64 {
	like := dice(u.like ^ uint64(s.worthOn(u)>>12))
	return like.draw()
}

// likenessOf is what the candidate is bought as, as a number, whatever its name.
func likenessOf(c *decision.Candidate) uint64 {
	h := fnv.New64a()
	for _, part := range []string{c.Zone, c.CapacityType, c.Pool.Key.String()} {
		h.Write([]byte(part))
		h.Write([]byte{0})
	}
	return h.Sum64() ^ uint64(money.NanoUSD(c.Price))
}

// dice are numbers without a pattern, the same for the same seed (splitmix64; Steele, Lea, Flood 2014).
type dice uint64

// draw is any number.
func (d *dice) draw() uint64 {
	*d += 0x9e3779b97f4a7c15
	z := uint64(*d)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// next is a number from 0 to n-1.
func (d *dice) next(n int) int { return int(d.draw() % uint64(n)) }
