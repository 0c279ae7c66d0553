package pricing

import (
	"context"
	"slices"
)

// A commitment makes a limited number of nodes cheaper. The pods' values are their costs on nodes that no commitment covers. These values
// also apply to the pods on a node that the commitment covers. The gain of a covered node is the value of its pods minus its price. The
// dual value of a commitment is the highest gain of any node that it covers, per unit of the commitment that this node uses. Nodes that
// gain less per unit should not use the commitment.

// CommittedValues are the values of a copy of the problem that has only the committed options (Problem.Committed). Ratio is the value of an
// option's items divided by its price. The price, in nano-USD per hour, is increased by what the option uses of its commitment, multiplied
// by the commitment's dual value.
type CommittedValues struct {
	P *Problem
	Values
	// worth has, for each option, an upper bound of the value of the pods on one node. dual has, for each commitment, the value of one
	// billionth of its unit. Both are in nano-USD per hour.
	worth, dual []float64
}

// findCommitted computes the values of the committed options from the items' values in v.
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
		// The price plus the value of the used commitment determines the order in which nodes are bought.
		opt := &c.P.Options[o]
		opt.Price += int64(dual[opt.Commitment-1] * float64(opt.Used))
		c.Ratio[o] = c.worth[o] / float64(max(opt.Price, 1))
	}
	v.Committed = c
}

// relaxed lists the shares of the commitments' dual values that tighten tries, because the commitments may cover more than the nodes need.
// In this case, the value of a commitment is less than the saving of the best node, and pods cost less than on nodes without a commitment.
var relaxed = [...]float64{0.7, 0.45, 0.25, 0.1, 0.03, 0}

// tighten looks for values with a better lower bound. It assumes that commitments cover any number of nodes, at the nodes' price plus a
// share of the dual value of the commitment that they use. The bound is a concave function of that share, so tighten stops at the first
// share that does not improve it.
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

// Best returns the values with the best lower bound.
func (v *Values) Best() *Values {
	if v.Tighter != nil {
		return v.Tighter
	}
	return v
}
