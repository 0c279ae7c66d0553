// Package packing finds cheap sets of new nodes for pods: vector bin packing with several kinds of bins. It knows nothing of
// Kubernetes: pods are items with amounts, kinds of nodes are options with amounts and a price, and rules about single nodes are
// amounts as well.
package packing

import (
	"context"
	"math"
	"slices"
)

// Effort bounds the work of a search.
type Effort struct {
	// Starts is how many prices of nodes a packing is begun with.
	Starts int
	// Steps is how many items may be looked at while nodes are filled from nothing, and Improve how many while they are taken apart.
	Steps, Improve int
	// Rounds is how many times in a row, for each node, taking nodes apart may bring nothing before the search ends; 0 takes none
	// apart.
	Rounds int
}

// Pack returns the cheapest of several packings, that given among them, improved within the effort. Bound is what no packing can
// cost less than: what is close to it is not improved. A nil packing stands for none; nil is returned if none is found.
func Pack(ctx context.Context, p *Problem, given []Node, bound int64, e Effort) []Node {
	s := newSearch(p)
	s.f.steps = e.Steps
	best, cost := s.copyOf(given), int64(math.MaxInt64)
	if best != nil {
		cost = p.Cost(best)
	}
	ways := []way{{steady: true}, {}}
	if s.few {
		ways = append(ways, way{steady: true, bySize: true})
	}
	for _, price := range s.prices(e.Starts, p.Likely) {
		for _, w := range ways {
			w.price = price
			if Close(cost, bound) || s.f.steps <= 0 || ctx.Err() != nil {
				break
			}
			for i := range p.Items {
				s.f.left[i] = p.Items[i].Count
			}
			if nodes, c, ok := s.construct(s.all, w, cost); ok && c < cost {
				best, cost = nodes, c
			}
		}
	}
	if best == nil || e.Rounds == 0 {
		return best
	}
	s.f.steps = e.Improve
	return s.improve(ctx, best, bound, e.Rounds)
}

// Close reports whether a cost is so near its lower bound that looking further does not pay: one part in 500.
func Close(cost, bound int64) bool { return cost-bound <= bound/500 }

// copyOf is the packing with what its nodes hold added up.
func (s *search) copyOf(given []Node) []Node {
	out := slices.Clone(given)
	for i := range out {
		n := &out[i]
		n.Load, n.used = slices.Clone(n.Load), make([]int64, s.p.Dims)
		for _, l := range n.Load {
			for d, need := range s.p.Items[l.Item].Need {
				n.used[d] += need * int64(l.Count)
			}
		}
	}
	return out
}
