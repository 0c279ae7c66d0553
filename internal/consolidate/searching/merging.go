package searching

import (
	"context"

	"github.com/drawknife/drawknife/disruption/decision"
	"github.com/drawknife/drawknife/internal/consolidate/removing"
	"github.com/drawknife/drawknife/internal/consolidate/searchcontext"
	"github.com/drawknife/drawknife/internal/consolidate/survey"
)

// mergeMany exchanges many nodes for at most one new node, as multi-node consolidation of Reference does. It sorts nodes by saving per
// disturbance, takes the longest prefix whose pods have places together, and repeats this. It helps if existing nodes are much smaller than
// the types that could be bought. In this case, each exchange of only Exchanged nodes would leave some room unused.
func (g groups) mergeMany(ctx context.Context) error {
	for {
		list := g.bySavings()
		most, err := g.mergeable(ctx, list)
		if err != nil || most < 2 {
			return err
		}
		before := len(g.steps)
		if err := g.tryGroup(ctx, list[:most:most], removing.UseRoom); err != nil || len(g.steps) == before {
			return err
		}
	}
}

// bySavings returns the existing nodes that can still be consolidated, in the order of Reference.
func (g groups) bySavings() []*searchcontext.Candidate {
	list := g.free()
	byCandidate := make(map[*decision.Candidate]*searchcontext.Candidate, len(list))
	order := make([]*decision.Candidate, 0, len(list))
	for _, c := range list {
		if !c.Planned {
			byCandidate[c.Candidate], order = c, append(order, c.Candidate)
		}
	}
	survey.BySavings(order)
	list = list[:0]
	for _, from := range order {
		list = append(list, byCandidate[from])
	}
	return list
}

// mergeable returns the largest number of candidates at the start of the list that can be replaced by at most one new node, as found by
// bisection. It returns 0 if bisection finds no such prefix of at least 2 candidates.
func (g groups) mergeable(ctx context.Context, list []*searchcontext.Candidate) (most int, err error) {
	for low, high := 2, min(len(list), g.Merged()); low <= high && g.Work <= g.most; {
		middle := (low + high) / 2
		group := list[:middle:middle]
		g.Work++
		r := removing.Consolidating(group, removing.UseRoom)
		why := g.Admissible(r)
		if why == nil {
			mark := g.Trial.Mark()
			var st *removing.Step
			if st, why, err = g.Try(ctx, r, mark); err == nil && why == nil && len(st.NewNodes) > 1 {
				why = g.Components.TooLarge
			}
			if back := g.Trial.Rollback(mark); err == nil {
				err = back
			}
			if err != nil {
				return 0, err
			}
		}
		if why == nil {
			most, low = middle, middle+1
		} else {
			high = middle - 1
		}
	}
	return most, nil
}
