package scheduling

import (
	"cmp"
	"context"
	"slices"

	"github.com/drawknife/drawknife/internal/engine/layout"
	"github.com/drawknife/drawknife/internal/engine/resources"
)

// A commitment is a limited amount of nodes that cost less. What a node that it covers is worth is known once the
// pods' values are: they are what pods cost on nodes that are not covered. So much of a commitment's worth as one
// node of the best kind brings for what it uses of it is the commitment's own dual value; kinds that bring less are
// not worth it.

// newProblem is Model.newProblem with rules about single nodes as caps, and what the trial's nodes leave of the commitments.
func (t *Trial) newProblem(items []item, c *layout.Cells) *problem {
	caps := t.m.hostCaps(items, false)
	return t.complete(t.m.newProblem(t.m.capItems(items, caps), c), caps)
}

// newJoined is newProblem with items that need not be told apart joined.
func (t *Trial) newJoined(items []item, c *layout.Cells) *problem {
	caps := t.m.hostCaps(items, false)
	join := t.m.joinAlike
	if t.m.costs != nil {
		join = keepApart
	}
	j := join(t.m.capItems(items, caps))
	p := t.complete(t.m.newProblem(j.items, c), caps)
	p.alike = j
	return p
}

// newProof is newJoined for a bound.
func (t *Trial) newProof(items []item) *problem {
	caps := t.m.hostCaps(items, true)
	given, caps := t.countWhole(t.m.capItems(items, caps), caps)
	j := t.m.joinAlike(given)
	p := t.complete(t.m.newProblem(j.items, nil), caps)
	p.alike = j
	return p
}

func (t *Trial) complete(p *problem, caps []hostCap) *problem {
	p.widen(caps)
	if len(p.committed) > 0 {
		p.commitmentLeft = t.commitmentsLeft()
	}
	return p
}

// addCommitted adds a node once for each commitment that covers it, unless one of its row in another slot does as well.
// o has no price yet.
func (p *problem) addCommitted(m *Model, u poolUsers, o option) {
	t := m.pools[u.pool].Table
next:
	for k := range m.costs.Commitments {
		c := t.Catalog.Cover(k, t.Rows[o.row].Variant, int(o.slot))
		if c.Used == 0 {
			continue
		}
		for i := len(p.committed) - 1; i >= 0; i-- {
			have := &p.committed[i]
			if have.pool != o.pool || have.row != o.row || have.assign != o.assign {
				break
			}
			if have.commitment == int32(k+1) && have.price <= c.Price && have.used <= c.Used && (!p.everyCell || have.cell == o.cell) && o.open.Within(have.open) {
				continue next
			}
		}
		add := o
		add.commitment, add.price, add.used, add.open = int32(k+1), c.Price, c.Used, o.open.Clone()
		p.committed = append(p.committed, add)
	}
}

// keepCommitted keeps those of the committed options that no other of their commitment can stand in for.
func (p *problem) keepCommitted(m *Model) {
	if len(p.committed) == 0 {
		return
	}
	var kept []option
	slices.SortFunc(p.committed, func(a, b option) int {
		return cmp.Or(cmp.Compare(a.commitment, b.commitment), cmp.Compare(a.used, b.used), compareOptions(&a, &b))
	})
next:
	for i := range p.committed {
		o := &p.committed[i]
		for j := len(kept) - 1; j >= 0 && kept[j].commitment == o.commitment; j-- {
			if k := &kept[j]; k.price <= o.price && resources.Fits(o.alloc, k.alloc) && o.open.Within(k.open) && m.standsIn(k, o) {
				continue next
			}
		}
		kept = append(kept, *o)
	}
	p.committed = kept
}

// committedValues are those of the problem whose options are the committed ones. Their ratio is what a node is worth by
// the values of the items, divided by its price with what it uses of its commitment priced as well, nano-USD per hour.
type committedValues struct {
	p *problem
	values
	// worth is indexed by option; dual by commitment: what one thousand-millionth of its unit is worth.
	worth, dual []float64
}

// findCommitted values the committed options by the items' values, which v has.
func (v *values) findCommitted(p *problem) {
	c := &committedValues{p: &problem{}, worth: make([]float64, len(p.committed))}
	*c.p = *p
	c.p.options, c.p.dominated, c.p.committed = slices.Clone(p.committed), nil, nil
	pr := newPricing(c.p, placesInUse(p.items))
	copy(pr.value, v.pricing.value)
	for o := range pr.sacks {
		pr.sacks[o].Solve(pr.value, -1)
	}
	c.item, c.pricing = v.item, pr
	c.lambda, c.ratio = pr.perUnit(pr.lambda, 1), make([]float64, len(c.p.options))
	dual := make([]float64, len(p.commitmentLeft))
	c.dual = dual
	w := newWorths(p)
	for o := range c.p.options {
		opt := &c.p.options[o]
		c.worth[o] = w.of(opt, v.item, c.lambda[o*p.dims:(o+1)*p.dims], 1)
		dual[opt.commitment-1] = max(dual[opt.commitment-1], (c.worth[o]-float64(opt.price))/float64(opt.used))
	}
	for o := range c.p.options {
		// From here on the price says which kinds are worth buying first.
		opt := &c.p.options[o]
		opt.price += int64(dual[opt.commitment-1] * float64(opt.used))
		c.ratio[o] = c.worth[o] / float64(max(opt.price, 1))
	}
	v.committed = c
}

// worths measures the value that nodes can hold, by the arithmetic that certificates are checked with.
type worths struct {
	p  *problem
	at []int // by item, the position of its place
}

func newWorths(p *problem) *worths {
	w := &worths{p: p, at: make([]int, len(p.items))}
	places := placesInUse(p.items)
	for i := range p.items {
		w.at[i] = slices.Index(places, p.items[i].place)
	}
	return w
}

// of is an upper bound on the value that one node of the option holds, by weak duality: its resources at prices l, plus
// what each pod is worth beyond what it uses. Resource prices and what pods beyond count are scaled; the items are not.
func (w *worths) of(o *option, item []int64, l []float64, scale float64) float64 {
	total := 0.0
	for d, amount := range o.alloc {
		total += scale * l[d] * float64(max(amount, 0))
	}
	for i := range w.p.items {
		it := &w.p.items[i]
		excess := float64(item[i])
		for d, need := range it.need {
			excess -= scale * l[d] * float64(need)
		}
		if excess > 0 {
			total += excess * float64(w.p.perOption(it, w.at[i], o))
		}
	}
	return total
}

// relaxed are the shares of what commitments are worth that are tried when they may be larger than what there is to cover:
// then they are worth less than what the best node brings, and pods less than what they cost elsewhere.
var relaxed = [...]float64{0.7, 0.45, 0.25, 0.1, 0.03, 0}

// tighten looks for values with a better bound: with nodes that commitments cover to be had without limit, at their price
// and a share of what they use is worth. The bound is a concave function of that share.
func (v *values) tighten(ctx context.Context, p *problem) {
	best := v
	for _, share := range relaxed {
		if ctx.Err() != nil {
			return
		}
		q := *p
		q.options, q.committed, q.dominated = slices.Clone(p.options), nil, nil
		for _, o := range p.committed {
			o.price += int64(share * v.committed.dual[o.commitment-1] * float64(o.used))
			q.options = append(q.options, o)
		}
		found := valuesOf(ctx, &q)
		n := len(p.options)
		found.lambda, found.ratio = found.lambda[:n*p.dims], found.ratio[:n]
		found.findCommitted(p)
		found.certify(p)
		if found.bound <= best.bound {
			return
		}
		v.tighter, best = found, found
	}
}

// best are the values with the best bound.
func (v *values) best() *values {
	if v.tighter != nil {
		return v.tighter
	}
	return v
}

// packCommitted buys nodes for the items in several ways, and keeps the one that leaves fewest pods, or costs least: as
// if there were no commitments, which cover then what they happen to; and the nodes first that make most of them.
func (t *Trial) packCommitted(ctx context.Context, p *problem, v *values) []int {
	before := t.Mark()
	first := *p
	first.committed = nil
	left := t.packProblem(ctx, &first, v)
	cost, best := t.newCost(), t.record(before)
	t.undo(before)
	ways := []*values{v}
	if v.tighter != nil {
		ways = append(ways, v.tighter)
	}
	for _, way := range ways {
		found := t.packBy(ctx, p, v, way.committed)
		if a, b := total(found), total(left); a < b || (a == b && t.newCost() < cost) {
			left, cost, best = found, t.newCost(), t.record(before)
		}
		t.undo(before)
	}
	t.restore(best)
	t.proof = nil
	return left
}

// packBy buys the nodes that make most of the commitments, and others for what they leave.
func (t *Trial) packBy(ctx context.Context, p *problem, v *values, c *committedValues) []int {
	left := t.buyCommitted(ctx, p, v, c)
	rest := make([]item, 0, len(p.items))
	var from []int
	for i, n := range left {
		if n > 0 {
			it := p.items[i]
			it.count = n
			rest, from = append(rest, it), append(from, i)
		}
	}
	if len(rest) == 0 {
		return left
	}
	// The items already need amounts of p's caps, and rules that these say have gone from perMachine.
	q := t.complete(t.m.newProblem(t.m.capItems(rest, p.caps), p.cells), p.caps)
	q.committed = nil
	for i, n := range t.packProblem(ctx, q, valuesOf(ctx, q)) {
		left[from[i]] = n
	}
	return left
}

func total(counts []int) int {
	sum := 0
	for _, n := range counts {
		sum += n
	}
	return sum
}

// buyCommitted buys nodes that commitments cover, those first that bring most for what they use, as long as they last
// and their pods are worth more than the node costs. Pools with minValues are passed over: what a commitment covers is
// rarely so varied. The result is how many of each item have no node yet.
func (t *Trial) buyCommitted(ctx context.Context, p *problem, v *values, c *committedValues) []int {
	g := newLedger(t, c.p)
	for i := range t.machines {
		// What earlier nodes were bought for is taken.
		if mc := &t.machines[i]; mc.commitment > 0 && !mc.empty() {
			tb := t.m.pools[mc.pool].Table
			g.committed[mc.commitment-1] = max(0, g.committed[mc.commitment-1]-tb.Catalog.Cover(int(mc.commitment-1), tb.Rows[mc.row].Variant, int(mc.slot)).Used)
		}
	}
	k := newPacker(t.m, c.p, &c.values, g)
	k.keep = func(o int32) bool {
		opt := &p.committed[o]
		worth := int64(0) // of what these pods cost elsewhere
		for _, l := range k.trial {
			worth += int64(l.count) * v.item[l.item]
		}
		return worth > opt.price && len(t.m.pools[opt.pool].Variety) == 0
	}
	packed := k.pack(ctx)
	for i := range c.p.options {
		// They are bought at the price that they have with nothing covered.
		o := &c.p.options[i]
		tb := t.m.pools[o.pool].Table
		o.price = tb.Catalog.Price(tb.Rows[o.row].Variant, int(o.slot))
	}
	t.buy(c.p, packed)
	return k.left
}
