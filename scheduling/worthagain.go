package scheduling

import (
	"context"
	"encoding/binary"

	"github.com/drawknife/drawknife/internal/engine/market"
)

// KnownWorth is what pods were worth at one time, by what decides it: what they ask for, and which new nodes they may go on. It is
// plain data that nobody changes, and no larger than the kinds of pods that there were. A nil one knows nothing.
type KnownWorth struct{ byContent map[string]int64 }

// Known is what the prices are, for another time; of prices that came from there, what was known then, so that prices get no
// worse each time.
func (w *Worth) Known() *KnownWorth {
	switch {
	case w == nil:
		return nil
	case w.from != nil:
		return w.from
	}
	out := &KnownWorth{byContent: make(map[string]int64, len(w.items))}
	c := contents{m: w.m}
	for i := range w.items {
		out.byContent[string(c.of(&w.items[i]))] = w.byClass[w.items[i].class]
	}
	return out
}

// WorthFrom is Worth with what is known from another time, which saves most of the work where few pods have changed: prices that
// pods had are proven again, and those of new kinds of pods found to go with them. Where that proves less than all by leastProven of
// what the prices came to, or many kinds are new, all are found as by Worth. The prices are as sound as those of Worth, though not the same.
func (m *Model) WorthFrom(ctx context.Context, q Query, known *KnownWorth) (*Worth, error) {
	t, items := m.itemsOfNodes(q)
	if known == nil || len(items) == 0 {
		return m.worthOf(ctx, t, items)
	}
	p := t.newProblem(items, nil)
	if v := m.valuesFrom(p, items, known); v != nil {
		w := m.newWorth(items, v)
		w.from = known
		return w, ctx.Err()
	}
	return m.newWorth(items, m.findValues(ctx, p).best()), ctx.Err()
}

const (
	// leastProven is the least share of what all pods were worth that has to be proven of the prices from another time.
	leastProven = 0.998
	// newShare is one in how many pods may be of a kind that was not there then.
	newShare = 20
)

// valuesFrom are values of the problem's items, which stand for those given, from known ones; nil if these don't do.
func (m *Model) valuesFrom(p *problem, items []item, known *KnownWorth) *values {
	if len(p.options) == 0 || len(p.committed) > 0 {
		return nil
	}
	u, unknown := make([]float64, len(p.items)), make([]bool, len(p.items))
	pods, fresh, sum := 0, 0, 0.0
	c := contents{m: m}
	for i := range p.items {
		it := &p.items[i]
		value, has := known.byContent[string(c.of(&items[i]))]
		if pods += it.count; !has {
			fresh += it.count
			unknown[i] = true
		}
		u[i] = float64(value)
		sum += u[i] * float64(it.count)
	}
	if fresh*newShare > pods {
		return nil
	}
	pr := newPricing(p, placesInUse(p.items))
	mean := make([]float64, len(pr.bundles))
	for b := range pr.bundles {
		bn, count := &pr.bundles[b], 0.0
		for _, i := range bn.items {
			mean[b] += u[i] * float64(p.items[i].count)
			count += float64(p.items[i].count)
		}
		mean[b] /= max(count, 1)
	}
	pr.settle(mean)
	for b := range pr.bundles {
		bn := &pr.bundles[b]
		for _, i := range bn.items {
			switch need := p.items[i].need; {
			case unknown[i]:
				u[i] = pr.cheapest(bn, pr.lambda, func(d int) float64 { return float64(need[d]) })
			case bn.uniform:
				u[i] = mean[b]
			}
		}
		if bn.uniform { // what is proven is one value for all of them
			for _, i := range bn.items {
				u[i] = min(u[i], u[bn.items[0]])
				u[bn.items[0]] = u[i]
			}
		}
	}
	v := &values{}
	v.take(pr, u, pr.lambda)
	if v.bound < leastProven*sum {
		return nil
	}
	return v
}

// contents put into words what decides what pods are worth.
type contents struct {
	m       *Model
	byStage map[int32][]byte
	text    []byte
}

// of is good until the next call.
func (c *contents) of(it *item) []byte {
	stage, known := c.byStage[it.stage]
	if !known {
		if c.byStage == nil {
			c.byStage = map[int32][]byte{}
		}
		for _, u := range c.m.stages[it.stage].Uses {
			f := &c.m.pools[u.Pool].Profiles[u.Profile]
			stage = binary.AppendUvarint(stage, uint64(u.Pool))
			for _, set := range [][]uint64{f.Rows, f.Slots} {
				stage = binary.AppendUvarint(stage, uint64(len(set)))
				for _, word := range set {
					stage = binary.LittleEndian.AppendUint64(stage, word)
				}
			}
		}
		c.byStage[it.stage] = stage
	}
	c.text = binary.AppendUvarint(c.text[:0], uint64(it.perMachine))
	for _, need := range c.m.classes[it.class].Unshared() {
		c.text = binary.AppendVarint(c.text, need)
	}
	c.text = append(c.text, stage...)
	return c.text
}

// itemsOfNodes are the pods of the nodes that could move, as items to be priced.
func (m *Model) itemsOfNodes(q Query) (*Trial, []item) {
	t := m.Trial()
	clear(t.waiting)
	for i := range m.nodes {
		for _, p := range m.nodes[i].Movable {
			t.waiting[p.Class]++
		}
	}
	t.options = PlaceOptions{Query: q}
	var items []item
	for i, c := range m.classes {
		if stages := t.stagesFor(c); t.waiting[i] > 0 && c.Invalid == nil && len(stages) > 0 {
			items = append(items, m.provable(int32(i), stages[0], int(t.waiting[i])))
		}
	}
	return t, items
}

func (m *Model) worthOf(ctx context.Context, t *Trial, items []item) (*Worth, error) {
	if len(items) == 0 {
		return &Worth{m: m, byClass: make([]int64, len(m.classes))}, ctx.Err()
	}
	return m.newWorth(items, m.findValues(ctx, t.newProblem(items, nil)).best()), ctx.Err()
}

func (m *Model) newWorth(items []item, v *values) *Worth {
	w := &Worth{m: m, byClass: make([]int64, len(m.classes)), items: items, total: v.bound / market.NanoPerUSD}
	sum := int64(0)
	for i, it := range items {
		w.byClass[it.class] = v.item[i]
		sum += v.item[i] * int64(it.count)
	}
	w.rent = max(0, sum-int64(v.bound))
	return w
}
