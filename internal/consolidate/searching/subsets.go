package searching

import (
	"cmp"
	"context"
	"slices"

	"github.com/drawknife/drawknife/internal/consolidate/removing"
	"github.com/drawknife/drawknife/internal/consolidate/searchcontext"
)

// maxSubset is the largest number of nodes whose subsets bestSubset tries.
const maxSubset = 8

// bestSubset tries all subsets of the first nodes, and executes the subset with the highest value that can become a step. Of subsets with
// equal values, it takes the subset that moves the fewest pods. Trying all subsets finds more savings than trying single nodes or random
// groups, and takes little time if there are few candidates.
func (g groups) bestSubset(ctx context.Context) error {
	list := g.free()
	list = list[:min(len(list), maxSubset, g.Exchanged())]
	var sets []*removing.Step
	for set := 1; set < 1<<len(list); set++ {
		var group []*searchcontext.Candidate
		for i, c := range list {
			if set&(1<<i) != 0 {
				group = append(group, c)
			}
		}
		st, err := g.tryAlone(ctx, group)
		if err != nil {
			return err
		}
		if st != nil {
			sets = append(sets, st)
		}
	}
	slices.SortStableFunc(sets, func(a, b *removing.Step) int {
		return cmp.Or(cmp.Compare(b.Value, a.Value), cmp.Compare(a.Pods, b.Pods))
	})
	g.Accepting = true
	defer func() { g.Accepting = false }()
	for _, st := range sets {
		before := len(g.steps)
		if err := g.tryGroup(ctx, st.Members, removing.UseRoom); err != nil || len(g.steps) > before {
			return err
		}
	}
	return nil
}

// tryAlone returns the step that the group would become, or nil if removing the group is not worth it. It ignores the size of the component
// that the step would join. It leaves the trial unchanged.
func (g groups) tryAlone(ctx context.Context, group []*searchcontext.Candidate) (*removing.Step, error) {
	r := removing.Consolidating(group, removing.UseRoom)
	if g.Work++; g.Admissible(r) != nil {
		return nil, nil
	}
	asked := g.attemptKey(r)
	if asked.unlimited = true; g.failed.of(asked) != nil {
		return nil, nil
	}
	mark := g.Trial.Mark()
	st, why, err := g.Try(ctx, r, mark)
	if err == nil {
		err = g.Trial.Rollback(mark)
	}
	if err != nil {
		return nil, err
	}
	if why != nil {
		g.failed.note(asked, failure{why: why})
		return nil, nil
	}
	return st, nil
}
