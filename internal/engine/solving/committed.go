package solving

import (
	"context"

	"github.com/drawknife/drawknife/internal/engine/filling"
	"github.com/drawknife/drawknife/internal/engine/newnodes"
	"github.com/drawknife/drawknife/internal/engine/offers"
	"github.com/drawknife/drawknife/internal/engine/pricing"
	"github.com/drawknife/drawknife/internal/engine/valuing"
)

// packCommitted buys nodes for the items in several ways: as if there were no commitments, and starting with the nodes that save most
// through commitments. It keeps the result that leaves the fewest pods pending. Of several such results, it keeps the cheapest.
func (t Solving) packCommitted(ctx context.Context, p *offers.Choice, v *pricing.Values) []int {
	before := t.Mark()
	first := *p
	first.Committed = nil
	left := t.packProblem(ctx, &first, v)
	cost, best := newnodes.Of(t.Trial).NewCost(), t.S.Record(before.At)
	t.Undo(before)
	ways := []*pricing.Values{v}
	if v.Tighter != nil {
		ways = append(ways, v.Tighter)
	}
	for _, way := range ways {
		found := t.packBy(ctx, p, v, way.Committed)
		if a, b := total(found), total(left); a < b || (a == b && newnodes.Of(t.Trial).NewCost() < cost) {
			left, cost, best = found, newnodes.Of(t.Trial).NewCost(), t.S.Record(before.At)
		}
		t.Undo(before)
	}
	t.Restore(best)
	t.Proof = nil
	return left
}

// packBy first buys the nodes whose commitments save most. Then it buys nodes without commitments for the remaining pods.
func (t Solving) packBy(ctx context.Context, p *offers.Choice, v *pricing.Values, c *pricing.CommittedValues) []int {
	left := t.buyCommitted(ctx, p, v, c)
	rest := make([]pricing.Item, 0, len(p.Items))
	var from []int
	for i, n := range left {
		if n > 0 {
			it := p.Items[i]
			it.Count = n
			rest, from = append(rest, it), append(from, i)
		}
	}
	if len(rest) == 0 {
		return left
	}
	// The items already need amounts of p.Caps, which express rules about single nodes. Therefore their field PerNode no longer contains
	// these rules.
	s := t.M.Shop()
	q := valuing.Of(t.Trial).Complete(s.Choose(s.WithCaps(rest, p.Caps), p.Cells), p.Caps)
	q.Committed = nil
	for i, n := range t.packProblem(ctx, q, pricing.WithoutCommitments(ctx, &q.Problem)) {
		left[from[i]] = n
	}
	return left
}

// buyCommitted buys nodes that commitments cover, as long as commitments are left and the pods' value exceeds the node's price. The nodes
// that save the most per unit of the commitment are bought first. Pools with minValues are skipped: the types that a commitment covers are
// rarely enough for minValues. The result is the number of pods of each item that have no node yet.
func (t Solving) buyCommitted(ctx context.Context, p *offers.Choice, v *pricing.Values, c *pricing.CommittedValues) []int {
	sold := *p
	sold.Problem = *c.P
	g := newAccount(t.Trial, &sold)
	for i := range t.S.Planned {
		// Subtract the amounts of commitments that the nodes planned so far use.
		if mc := &t.S.Planned[i]; mc.Commitment > 0 && !mc.Empty() {
			tb := t.M.Pools[mc.Pool].Table
			g.committed[mc.Commitment-1] = max(0, g.committed[mc.Commitment-1]-tb.Catalog.Cover(int(mc.Commitment-1), tb.Rows[mc.Row].Variant, int(mc.Slot)).Used)
		}
	}
	k := filling.NewPacker(filling.NewTask(c.P, &c.Values, hostRules(t.M)), g)
	k.Keep = func(o int32) bool {
		opt := &p.Committed[o]
		worth := int64(0) // the cost of the filling's pods on nodes without a commitment, in nano-USD per hour
		for _, l := range k.Trial {
			worth += int64(l.Count) * v.Item[l.Item]
		}
		return worth > opt.Price && len(t.M.Pools[opt.Pool].Variety) == 0
	}
	packed := k.Pack(ctx)
	for i := range c.P.Options {
		// Open the nodes at their prices without commitments.
		o := &c.P.Options[i]
		tb := t.M.Pools[o.Pool].Table
		o.Price = tb.Catalog.Price(tb.Rows[o.Row].Variant, int(o.Slot))
	}
	t.buy(&sold, packed)
	return k.Left
}

func total(counts []int) int {
	sum := 0
	for _, n := range counts {
		sum += n
	}
	return sum
}
