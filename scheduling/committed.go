package scheduling

import (
	"context"

	"github.com/drawknife/drawknife/internal/engine/filling"
	"github.com/drawknife/drawknife/internal/engine/layout"
	"github.com/drawknife/drawknife/internal/engine/offers"
	"github.com/drawknife/drawknife/internal/engine/pricing"
)

// newProblem is shop.choose with rules about single nodes as caps, and what the trial's nodes leave of the commitments.
func (t *Trial) newProblem(items []pricing.Item, c *layout.Cells) *offers.Choice {
	s := t.m.c.Shop()
	caps := s.Caps(items, false)
	return t.complete(s.Choose(s.WithCaps(items, caps), c), caps)
}

// newJoined is newProblem with items that need not be told apart joined.
func (t *Trial) newJoined(items []pricing.Item, c *layout.Cells) *offers.Choice {
	s := t.m.c.Shop()
	caps := s.Caps(items, false)
	join := s.Join
	if t.m.c.Costs != nil {
		join = offers.Apart
	}
	j := join(s.WithCaps(items, caps))
	p := t.complete(s.Choose(j.Items, c), caps)
	p.Alike = j
	return p
}

// newProof is newJoined for a bound.
func (t *Trial) newProof(items []pricing.Item) *offers.Choice {
	s := t.m.c.Shop()
	s.Most = true
	caps := s.Caps(items, true)
	given := s.WithCaps(items, caps)
	if t.s.Topology != nil {
		// Problems without rules between pods have certificates of multipliers alone.
		given, caps = offers.CountWhole(given, caps, t.plannedRooms(), t.m.c.Resources.Len())
	}
	j := s.Join(given)
	p := t.complete(s.Choose(j.Items, nil), caps)
	p.Alike = j
	return p
}

func (t *Trial) complete(p *offers.Choice, caps []offers.Cap) *offers.Choice {
	p.Widen(caps)
	if len(p.Committed) > 0 {
		p.CommitmentLeft = t.commitmentsLeft()
	}
	return p
}

// packCommitted buys nodes for the items in several ways, and keeps the one that leaves fewest pods, or costs least: as
// if there were no commitments, which cover then what they happen to; and the nodes first that make most of them.
func (t *Trial) packCommitted(ctx context.Context, p *offers.Choice, v *pricing.Values) []int {
	before := t.Mark()
	first := *p
	first.Committed = nil
	left := t.packProblem(ctx, &first, v)
	cost, best := t.newCost(), t.s.Record(before.at)
	t.undo(before)
	ways := []*pricing.Values{v}
	if v.Tighter != nil {
		ways = append(ways, v.Tighter)
	}
	for _, way := range ways {
		found := t.packBy(ctx, p, v, way.Committed)
		if a, b := total(found), total(left); a < b || (a == b && t.newCost() < cost) {
			left, cost, best = found, t.newCost(), t.s.Record(before.at)
		}
		t.undo(before)
	}
	t.restore(best)
	t.proof = nil
	return left
}

// packBy buys the nodes that make most of the commitments, and others for what they leave.
func (t *Trial) packBy(ctx context.Context, p *offers.Choice, v *pricing.Values, c *pricing.CommittedValues) []int {
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
	// The items already need amounts of p's caps, and rules that these say have gone from PerNode.
	s := t.m.c.Shop()
	q := t.complete(s.Choose(s.WithCaps(rest, p.Caps), p.Cells), p.Caps)
	q.Committed = nil
	for i, n := range t.packProblem(ctx, q, pricing.WithoutCommitments(ctx, &q.Problem)) {
		left[from[i]] = n
	}
	return left
}

// buyCommitted buys nodes that commitments cover, those first that bring most for what they use, as long as they last
// and their pods are worth more than the node costs. Pools with minValues are passed over: what a commitment covers is
// rarely so varied. The result is how many of each item have no node yet.
func (t *Trial) buyCommitted(ctx context.Context, p *offers.Choice, v *pricing.Values, c *pricing.CommittedValues) []int {
	sold := *p
	sold.Problem = *c.P
	g := newLedger(t, &sold)
	for i := range t.s.Planned {
		// What earlier nodes were bought for is taken.
		if mc := &t.s.Planned[i]; mc.Commitment > 0 && !mc.Empty() {
			tb := t.m.c.Pools[mc.Pool].Table
			g.committed[mc.Commitment-1] = max(0, g.committed[mc.Commitment-1]-tb.Catalog.Cover(int(mc.Commitment-1), tb.Rows[mc.Row].Variant, int(mc.Slot)).Used)
		}
	}
	k := filling.NewPacker(filling.NewTask(c.P, &c.Values, t.m.hostRules()), g)
	k.Keep = func(o int32) bool {
		opt := &p.Committed[o]
		worth := int64(0) // of what these pods cost elsewhere
		for _, l := range k.Trial {
			worth += int64(l.Count) * v.Item[l.Item]
		}
		return worth > opt.Price && len(t.m.c.Pools[opt.Pool].Variety) == 0
	}
	packed := k.Pack(ctx)
	for i := range c.P.Options {
		// They are bought at the price that they have with nothing covered.
		o := &c.P.Options[i]
		tb := t.m.c.Pools[o.Pool].Table
		o.Price = tb.Catalog.Price(tb.Rows[o.Row].Variant, int(o.Slot))
	}
	t.buy(&sold, packed)
	return k.Left
}

// plannedRooms are the rooms of the planned nodes, those of one pool's row together.
func (t *Trial) plannedRooms() []offers.Room {
	type row struct{ pool, row int32 }
	var out []offers.Room
	at := map[row]int{}
	for _, planned := range t.s.Planned {
		k := row{planned.Pool, planned.Row}
		n, known := at[k]
		if !known {
			n = len(out)
			at[k] = n
			out = append(out, offers.Room{Alloc: t.m.c.Pools[k.pool].Table.AllocOf(int(k.row), t.m.c.Resources.Len())})
		}
		out[n].Nodes++
	}
	return out
}

func total(counts []int) int {
	sum := 0
	for _, n := range counts {
		sum += n
	}
	return sum
}
