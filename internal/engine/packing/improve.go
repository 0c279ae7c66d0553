package packing

import (
	"context"
	"math/rand/v2"
	"slices"
)

// fairGap defines when the limits Effort.Enough and Effort.FairRounds apply: if the packing costs at most 1/fairGap more than its lower
// bound.
const fairGap = 40

// A packing that costs more than fairGap allows gets unfairSteps times as many steps as Effort.Enough. Even more steps hardly make it
// cheaper.
const unfairSteps = 4

// improve repeatedly takes a few nodes apart and packs their pods in another way. It prefers nodes whose price exceeds the value of their
// pods most. Cheaper packings are kept. In every second attempt, packings of equal cost are also kept, so that other combinations of pods
// are tried.
func (s *search) improve(ctx context.Context, nodes []Node, bound int64, e Effort) []Node {
	p, f := s.p, s.f
	cost := p.Cost(nodes)
	r := rand.New(rand.NewPCG(1, uint64(len(p.Items))))
	good := s.ranked[AnyCell]
	var items []int32
	for idle := 0; f.steps > 0 && !e.ends(idle, e.Improve-f.steps, len(nodes), cost-bound <= bound/fairGap) && len(nodes) > 1 && good.good > 0 && !Close(cost, bound) && ctx.Err() == nil; idle++ {
		f.steps -= 32
		apart := s.pick(nodes, r)
		w := way{price: p.Options[good.options[r.IntN(good.good)]].Price, bonus: int64(r.IntN(2) * 64), steady: r.IntN(2) == 0}
		if r.IntN(2) == 0 {
			w.price = p.Options[nodes[apart[r.IntN(len(apart))]].Option].Price
		}
		before, worth := int64(0), int64(0)
		for _, i := range apart {
			price := p.Options[nodes[i].Option].Price
			before, worth = before+price, worth+price-nodes[i].lost
		}
		below := before + int64(1-idle%2)
		if s.roundUp(worth) >= below {
			continue // the values of these pods show that new nodes for them would cost at least as much as their present nodes
		}
		clear(f.left)
		for _, i := range apart {
			for _, l := range nodes[i].Load {
				f.left[l.Item] += int(l.Count)
			}
		}
		items = items[:0]
		for _, i := range f.order {
			if f.left[i] > 0 {
				items = append(items, i)
			}
		}
		again, c, ok := s.construct(items, w, below)
		if !ok {
			continue
		}
		if c < before {
			idle = 0
		}
		cost += c - before
		nodes = replace(nodes, apart, s.copyOf(again))
	}
	return nodes
}

// ends reports whether the search ends, because too many attempts in a row were idle for this number of nodes, or enough steps were taken.
// An attempt is idle if it does not make the packing cheaper. fair means that the packing is close to its lower bound: see fairGap.
func (e Effort) ends(idle, steps, nodes int, fair bool) bool {
	rounds := e.Rounds
	if fair && e.FairRounds > 0 {
		rounds = min(rounds, e.FairRounds)
	}
	enough := e.Enough
	if !fair {
		enough *= unfairSteps
	}
	return idle >= rounds*(nodes+8) || enough > 0 && steps >= enough
}

// pick returns the nodes to take apart. It repeatedly draws a few nodes at random and picks the one with the largest value in its field
// lost. The result is valid until the next call.
func (s *search) pick(nodes []Node, r *rand.Rand) []int {
	out := s.picked[:0]
	few := 2 + r.IntN(7)
	for range 2 + r.IntN(7) {
		worst, most := -1, int64(0)
		for range few {
			i := r.IntN(len(nodes))
			if lost := nodes[i].lost; worst < 0 || lost > most {
				worst, most = i, lost
			}
		}
		if !slices.Contains(out, worst) {
			out = append(out, worst)
		}
	}
	slices.Sort(out)
	s.picked = out
	return out
}

func replace(nodes []Node, apart []int, again []Node) []Node {
	kept := nodes[:0]
	next := 0
	for i := range nodes {
		if next < len(apart) && apart[next] == i {
			next++
			continue
		}
		kept = append(kept, nodes[i])
	}
	return append(kept, again...)
}
