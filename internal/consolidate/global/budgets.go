package global

import (
	"context"

	"github.com/drawknife/drawknife/disruption/decision"
	"github.com/drawknife/drawknife/internal/consolidate/knapsack"
)

// withinBudgets looks once more where budgets kept a search from nodes: it searches as if consolidation had none, chooses of
// what it finds what is worth most within the budgets, and begins a search with that. What goes node by node under budgets
// takes what comes first, and that need not be worth most. Groups that are exchanged for new nodes leave little to choose
// from; so where the best way does that, a way without is gone too. Of all these searches the best is returned.
func (g *ground) withinBudgets(ctx context.Context, best *search) (*search, error) {
	if !best.heldByBudgets() {
		return best, nil
	}
	list := []way{best.way}
	if best.way.rebuild || best.way.subsets {
		list = append(list, way{theta: best.way.theta})
	}
	for _, w := range list {
		free, begun := w, w
		free.prepare = func(_ context.Context, s *search) error {
			s.pass.Ledger = s.pass.Ledger.Unbound()
			return nil
		}
		wish, err := g.search(ctx, free)
		if err != nil {
			return nil, err
		}
		begun.prepare = func(ctx context.Context, s *search) error { return s.takeBest(ctx, wish.steps) }
		next, err := g.search(ctx, begun)
		if err != nil {
			return nil, err
		}
		if next.better(best) {
			best = next
		}
	}
	return best, nil
}

// heldByBudgets reports whether a budget kept the search from consolidating some node.
func (s *search) heldByBudgets() bool {
	for _, why := range s.why {
		if why.Code == decision.BlockBudget {
			return true
		}
	}
	return false
}

// takeBest makes those of the steps that are worth most within the budgets, in their order. Steps of drift were made already.
func (s *search) takeBest(ctx context.Context, steps []*step) error {
	var list []knapsack.Choice
	var open []*step
	var drawn []int
	index := map[int]int{}
	for _, st := range steps {
		if st.method.Reason() == decision.ReasonDrifted {
			continue
		}
		c := knapsack.Choice{Value: st.value}
		for _, u := range st.members {
			for _, d := range s.pass.Ledger.Draws(u.Machine, st.method.Reason()) {
				at, known := index[d.Budget]
				if !known {
					at = len(drawn)
					index[d.Budget], drawn = at, append(drawn, d.Budget)
				}
				for len(c.Takes) <= at {
					c.Takes = append(c.Takes, 0)
				}
				c.Takes[at] += d.Amount
			}
		}
		list, open = append(list, c), append(open, st)
	}
	room := make([]int64, len(drawn))
	for i, budget := range drawn {
		room[i] = s.pass.Ledger.Room(budget)
	}
	for i := range list {
		list[i].Takes = append(list[i].Takes, make([]int64, len(drawn)-len(list[i].Takes))...)
	}
	for _, i := range knapsack.Choose(list, room) {
		if err := s.tryGroup(ctx, open[i].members, open[i].where); err != nil {
			return err
		}
	}
	return nil
}
