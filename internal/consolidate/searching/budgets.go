package searching

import (
	"context"

	"github.com/drawknife/drawknife/disruption/decision"
	"github.com/drawknife/drawknife/internal/consolidate/knapsack"
	"github.com/drawknife/drawknife/internal/consolidate/removing"
)

// withinBudgets searches again if budgets prevented the removal of some nodes. First it searches as if consolidation had no budgets. Then
// it chooses the steps of this search with the highest total value within the budgets, and starts another search with these steps. This can
// give a better result, because a normal search accepts the first steps that it finds, and these need not have the highest value. A
// strategy with rebuild or subsets makes few large steps, so withinBudgets would have few steps to choose from. So if the best strategy has
// rebuild or subsets, withinBudgets also runs a strategy without them. withinBudgets returns the best of all these searches.
func (p *Planner) withinBudgets(ctx context.Context, best *Search) (*Search, error) {
	if !best.heldByBudgets() {
		return best, nil
	}
	list := []strategy{best.strategy}
	if best.strategy.rebuild || best.strategy.subsets {
		list = append(list, strategy{roomWeight: best.strategy.roomWeight})
	}
	for _, st := range list {
		free, begun := st, st
		free.prepare = func(_ context.Context, s *Search) error {
			s.Types.Budgets = s.Types.Budgets.Unbound()
			return nil
		}
		unbound, err := p.search(ctx, free)
		if err != nil {
			return nil, err
		}
		begun.prepare = func(ctx context.Context, s *Search) error { return s.takeBest(ctx, unbound.steps) }
		next, err := p.search(ctx, begun)
		if err != nil {
			return nil, err
		}
		if next.better(best) {
			best = next
		}
	}
	return best, nil
}

// heldByBudgets reports whether a disruption budget prevented the consolidation of at least one node.
func (s *Search) heldByBudgets() bool {
	for _, why := range s.why {
		if causeOf(why).Code == decision.BlockBudget {
			return true
		}
	}
	return false
}

// takeBest chooses the steps with the highest total value within the budgets, and tries them again in the order of the list. It leaves out
// steps of drift, because removeUnneeded has already executed them.
func (s *Search) takeBest(ctx context.Context, steps []*removing.Step) error {
	var list []knapsack.Choice
	var choices []*removing.Step
	var budgets []int
	index := map[int]int{}
	for _, st := range steps {
		if st.Method.Reason() == decision.ReasonDrifted {
			continue
		}
		c := knapsack.Choice{Value: st.Value}
		for _, m := range st.Members {
			for _, d := range s.Types.Budgets.Draws(m.State, st.Method.Reason()) {
				at, known := index[d.Budget]
				if !known {
					at = len(budgets)
					index[d.Budget], budgets = at, append(budgets, d.Budget)
				}
				for len(c.Takes) <= at {
					c.Takes = append(c.Takes, 0)
				}
				c.Takes[at] += d.Amount
			}
		}
		list, choices = append(list, c), append(choices, st)
	}
	room := make([]int64, len(budgets))
	for i, budget := range budgets {
		room[i] = s.Types.Budgets.Room(budget)
	}
	for i := range list {
		list[i].Takes = append(list[i].Takes, make([]int64, len(budgets)-len(list[i].Takes))...)
	}
	for _, i := range knapsack.Choose(list, room) {
		if err := s.tryGroup(ctx, choices[i].Members, choices[i].Where); err != nil {
			return err
		}
	}
	return nil
}
