package reference

import (
	"cmp"
	"context"
	"slices"

	"github.com/drawknife/drawknife/disruption/decision"
	"github.com/drawknife/drawknife/internal/consolidate/survey"
)

// loose divides the candidates into two lists: candidates that may be removed alone, and groups of candidates that must be removed
// together. The groups are sorted by descending ratio of saving to disruption.
func (p *Pass) loose(accepted []*decision.Candidate) (loose []*decision.Candidate, tied []*survey.Tie) {
	if len(p.Fleet.Ties) == 0 {
		return slices.Clone(accepted), nil
	}
	for _, c := range accepted {
		t := p.Fleet.TieOf(c.Name)
		switch {
		case t == nil:
			loose = append(loose, c)
		case t.Members[0] == c:
			tied = append(tied, t)
		}
	}
	ratio := func(t *survey.Tie) float64 {
		price, cost := 0.0, 0.0
		for _, c := range t.Members {
			price, cost = price+c.Price, cost+c.Cost
		}
		return price / cost
	}
	slices.SortStableFunc(tied, func(a, b *survey.Tie) int { return cmp.Compare(ratio(b), ratio(a)) })
	return loose, tied
}

// wholeGangs takes the first tie (nodes that share a gang) that can be replaced by at most one new node. It tries at most the number of
// ties that the parameter trials states.
func (p *Pass) wholeGangs(ctx context.Context, tied []*survey.Tie, trials int) (*decision.Command, error) {
	for i, t := range tied {
		if i >= trials {
			for _, late := range tied[i:] {
				p.notReached(decision.MethodMultiNode, late.Members)
			}
			return nil, nil
		}
		if len(t.Members) > p.MaxBatch {
			for _, c := range t.Members {
				p.Block(decision.MethodMultiNode, c, t.TooMany(c, p.MaxBatch))
			}
			continue
		}
		cmd, why, err := p.wholeGang(ctx, t)
		if err != nil {
			return nil, err
		}
		if why == nil {
			p.take(t.Members, decision.ReasonUnderutilized)
			return cmd, nil
		}
		p.BlockAll(decision.MethodMultiNode, t.Members, t, why)
	}
	return nil, nil
}

// wholeGang returns the command that removes the nodes of the tie, or the block that keeps them from being removed.
func (p *Pass) wholeGang(ctx context.Context, t *survey.Tie) (*decision.Command, *decision.Block, error) {
	if why := p.room(t.Members, decision.ReasonUnderutilized); why != nil {
		return nil, why, nil
	}
	price := 0.0
	for _, c := range t.Members {
		price += c.Price
	}
	if why := p.Balanced(t.Members, price); why != nil {
		return nil, why, nil
	}
	return p.consolidate(ctx, decision.MethodMultiNode, t.Members)
}
