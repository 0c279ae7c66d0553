package pricing

import (
	"context"
	"slices"
)

// A commitment is a limited amount of nodes that cost less. What a node that it covers is worth is known once the
// pods' values are: they are what pods cost on nodes that are not covered. So much of a commitment's worth as one
// node of the best kind brings for what it uses of it is the commitment's own dual value; kinds that bring less are
// not worth it.

// CommittedValues are those of the problem whose options are the committed ones. Their ratio is what a node is worth by
// the values of the items, divided by its price with what it uses of its commitment priced as well, nano-USD per hour.
type CommittedValues struct {
	P *Problem
	Values
	// worth is indexed by option; dual by commitment: what one thousand-millionth of its unit is worth.
	worth, dual []float64
}

// findCommitted values the committed options by the items' values, which v has.
func (v *Values) findCommitted(p *Problem) {
	c := &CommittedValues{P: &Problem{}, worth: make([]float64, len(p.Committed))}
	*c.P = *p
	c.P.Options, c.P.Dominated, c.P.Committed = slices.Clone(p.Committed), nil, nil
	pr := NewProgram(c.P, PlacesInUse(p.Items))
	copy(pr.Value, v.Program.Value)
	for o := range pr.Sacks {
		pr.Sacks[o].Solve(pr.Value, -1)
	}
	c.Item, c.Program = v.Item, pr
	c.Lambda, c.Ratio = pr.perUnit(pr.Lambda, 1), make([]float64, len(c.P.Options))
	dual := make([]float64, len(p.CommitmentLeft))
	c.dual = dual
	w := NewWorths(p)
	for o := range c.P.Options {
		opt := &c.P.Options[o]
		c.worth[o] = w.Of(opt, v.Item, c.Lambda[o*p.Dims:(o+1)*p.Dims], 1)
		dual[opt.Commitment-1] = max(dual[opt.Commitment-1], (c.worth[o]-float64(opt.Price))/float64(opt.Used))
	}
	for o := range c.P.Options {
		// From here on the price says which kinds are worth buying first.
		opt := &c.P.Options[o]
		opt.Price += int64(dual[opt.Commitment-1] * float64(opt.Used))
		c.Ratio[o] = c.worth[o] / float64(max(opt.Price, 1))
	}
	v.Committed = c
}

// relaxed are the shares of what commitments are worth that are tried when they may be larger than what there is to cover:
// then they are worth less than what the best node brings, and pods less than what they cost elsewhere.
var relaxed = [...]float64{0.7, 0.45, 0.25, 0.1, 0.03, 0}

// tighten looks for values with a better bound: it assumes unlimited nodes covered by commitments, at their price plus a share of the
// worth of what they use. The bound is a concave function of that share.
func (v *Values) tighten(ctx context.Context, p *Problem) {
	best := v
	for _, share := range relaxed {
		if ctx.Err() != nil {
			return
		}
		q := *p
		q.Options, q.Committed, q.Dominated = slices.Clone(p.Options), nil, nil
		for _, o := range p.Committed {
			o.Price += int64(share * v.Committed.dual[o.Commitment-1] * float64(o.Used))
			q.Options = append(q.Options, o)
		}
		found := WithoutCommitments(ctx, &q)
		n := len(p.Options)
		found.Lambda, found.Ratio = found.Lambda[:n*p.Dims], found.Ratio[:n]
		found.findCommitted(p)
		found.certify(p)
		if found.Bound <= best.Bound {
			return
		}
		v.Tighter, best = found, found
	}
}

// Best are the values with the best bound.
func (v *Values) Best() *Values {
	if v.Tighter != nil {
		return v.Tighter
	}
	return v
}
