package scheduling

import (
	"context"
	"encoding/binary"

	"github.com/drawknife/drawknife/internal/engine/market"
	"github.com/drawknife/drawknife/internal/engine/pricing"
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
		out.byContent[string(c.of(&w.items[i]))] = w.byClass[w.items[i].Class]
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
	p := &t.newProblem(items, nil).Problem
	if v := m.valuesAgain(p, items, known); v != nil {
		w := m.newWorth(items, v)
		w.from = known
		return w, ctx.Err()
	}
	return m.newWorth(items, pricing.Find(ctx, p).Best()), ctx.Err()
}

const (
	// leastProven is the least share of what all pods were worth that has to be proven of the prices from another time.
	leastProven = 0.998
	// newShare is one in how many pods may be of a kind that was not there then.
	newShare = 20
)

// valuesAgain are values of the problem's items, which stand for those given, from known ones; nil if these don't do.
func (m *Model) valuesAgain(p *pricing.Problem, items []pricing.Item, known *KnownWorth) *pricing.Values {
	if len(p.Options) == 0 || len(p.Committed) > 0 {
		return nil
	}
	u, unknown := make([]float64, len(p.Items)), make([]bool, len(p.Items))
	pods, fresh, sum := 0, 0, 0.0
	c := contents{m: m}
	for i := range p.Items {
		it := &p.Items[i]
		value, has := known.byContent[string(c.of(&items[i]))]
		if pods += it.Count; !has {
			fresh += it.Count
			unknown[i] = true
		}
		u[i] = float64(value)
		sum += u[i] * float64(it.Count)
	}
	if fresh*newShare > pods {
		return nil
	}
	v := pricing.FromKnown(p, u, unknown)
	if v.Bound < leastProven*sum {
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
func (c *contents) of(it *pricing.Item) []byte {
	stage, known := c.byStage[it.Stage]
	if !known {
		if c.byStage == nil {
			c.byStage = map[int32][]byte{}
		}
		for _, u := range c.m.c.Stages[it.Stage].Uses {
			f := &c.m.c.Pools[u.Pool].Profiles[u.Profile]
			stage = binary.AppendUvarint(stage, uint64(u.Pool))
			for _, set := range [][]uint64{f.Rows, f.Slots} {
				stage = binary.AppendUvarint(stage, uint64(len(set)))
				for _, word := range set {
					stage = binary.LittleEndian.AppendUint64(stage, word)
				}
			}
		}
		c.byStage[it.Stage] = stage
	}
	c.text = binary.AppendUvarint(c.text[:0], uint64(it.PerNode))
	for _, need := range c.m.c.Classes[it.Class].Unshared() {
		c.text = binary.AppendVarint(c.text, need)
	}
	c.text = append(c.text, stage...)
	return c.text
}

// itemsOfNodes are the pods of the nodes that could move, as items to be priced.
func (m *Model) itemsOfNodes(q Query) (*Trial, []pricing.Item) {
	t := m.Trial()
	clear(t.s.Waiting)
	for i := range m.c.Nodes {
		for _, p := range m.c.Nodes[i].Movable {
			t.s.Waiting[p.Class]++
		}
	}
	t.options = PlaceOptions{Query: q}
	var items []pricing.Item
	for i, c := range m.c.Classes {
		if stages := t.stagesFor(c); t.s.Waiting[i] > 0 && c.Invalid == nil && len(stages) > 0 {
			items = append(items, m.provable(int32(i), stages[0], int(t.s.Waiting[i])))
		}
	}
	return t, items
}

func (m *Model) worthOf(ctx context.Context, t *Trial, items []pricing.Item) (*Worth, error) {
	if len(items) == 0 {
		return &Worth{m: m, byClass: make([]int64, len(m.c.Classes))}, ctx.Err()
	}
	return m.newWorth(items, pricing.Find(ctx, &t.newProblem(items, nil).Problem).Best()), ctx.Err()
}

func (m *Model) newWorth(items []pricing.Item, v *pricing.Values) *Worth {
	w := &Worth{m: m, byClass: make([]int64, len(m.c.Classes)), items: items, total: v.Bound / market.NanoPerUSD}
	sum := int64(0)
	for i, it := range items {
		w.byClass[it.Class] = v.Item[i]
		sum += v.Item[i] * int64(it.Count)
	}
	w.rent = max(0, sum-int64(v.Bound))
	return w
}
