// Package packing finds cheap sets of new nodes for pods by vector bin packing with several kinds of bins. It does not depend on
// Kubernetes. Pods are items with amounts, kinds of nodes are options with amounts and a price, and rules about single nodes are also
// amounts.
package packing

import (
	"cmp"
	"context"
	"math"
	"slices"
)

// Effort limits the work of a search.
type Effort struct {
	// Starts is the number of node prices that are tried. One packing is constructed for each of these prices.
	Starts int
	// Steps is the number of items that may be examined while empty nodes are filled. Improve is the number of items that may be examined
	// while nodes are repacked.
	Steps, Improve int
	// Rounds: the search ends after repacking has failed this many times in a row for each node. 0 means no repacking.
	Rounds int
	// Enough is a further limit of the number of items that Improve counts, and FairRounds is a further limit of Rounds. Both apply if the
	// packing costs at most 1/fairGap more than its lower bound. For a more expensive packing, the limit of items is unfairSteps*Enough,
	// and the limit of failures is Rounds. If Enough or FairRounds is 0, this further limit does not exist.
	Enough, FairRounds int
	// HandOver is the maximum number of attempts to place a pod on another node when nodes hand over pods. 0 means a third of Improve or,
	// if Rounds is 0, a third of Steps.
	HandOver int
}

// Pack constructs several packings, improves them within the effort, and returns the cheapest. It also improves the packing in given, which
// may be nil. bound is a lower bound on the cost of any packing. A packing whose cost is close to bound is not improved. Pack returns nil
// if it finds no packing.
func Pack(ctx context.Context, p *Problem, given []Node, bound int64, e Effort) []Node {
	s := newSearch(p)
	s.f.steps = e.Steps
	bound = s.roundUp(bound)
	best, cost, price := s.copyOf(given), int64(math.MaxInt64), int64(0)
	if best != nil {
		cost = p.Cost(best)
	}
	try := func(w way) {
		if Close(cost, bound) || s.f.steps <= 0 || ctx.Err() != nil {
			return
		}
		for i := range p.Items {
			s.f.left[i] = p.Items[i].Count
		}
		if nodes, c, ok := s.construct(s.f.order, w, cost); ok && c < cost {
			best, cost, price = s.copyOf(nodes), c, w.price
		}
	}
	prices := s.prices(e.Starts, p.Likely)
	for _, at := range prices {
		try(way{price: at, steady: true})
		if s.few {
			try(way{price: at})
			try(way{price: at, steady: true, bySize: true})
		}
	}
	if !s.few && len(prices) > 0 {
		if price == 0 {
			price = prices[0]
		}
		try(way{price: price})
	}
	if best == nil {
		return nil
	}
	if e.Rounds > 0 {
		s.f.steps = e.Improve
		best = s.improve(ctx, best, bound, e)
	}
	if bound > 0 {
		best = s.fewer(s.handOver(ctx, best, bound, e.handOverSteps()))
	}
	return best
}

// handOverSteps returns the maximum number of attempts to place a pod on another node when nodes hand over pods.
func (e Effort) handOverSteps() int {
	steps := e.Steps / 3
	if e.Rounds > 0 {
		steps = e.Improve / 3
	}
	if e.HandOver > 0 {
		steps = min(steps, e.HandOver)
	}
	return min(steps, maxHandOverSteps)
}

// Close reports whether a cost exceeds its lower bound by at most 1/500 of the bound. Then further search is not worth its time.
func Close(cost, bound int64) bool { return cost-bound <= bound/500 }

// copyOf copies the packing to separate memory and computes the loss of each node.
func (s *search) copyOf(nodes []Node) []Node {
	if nodes == nil {
		return nil
	}
	loads := 0
	for i := range nodes {
		loads += len(nodes[i].Load)
	}
	out, all := make([]Node, len(nodes)), make([]Load, 0, loads)
	for i := range nodes {
		from := len(all)
		all = append(all, nodes[i].Load...)
		slices.SortFunc(all[from:], func(a, b Load) int { return cmp.Compare(a.Item, b.Item) })
		out[i] = Node{Option: nodes[i].Option, Load: all[from:len(all):len(all)]}
		out[i].lost = s.p.Options[out[i].Option].Price - s.worth(&out[i])
	}
	return out
}
