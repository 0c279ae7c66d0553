package valuing

import (
	"context"
	"encoding/binary"

	"github.com/drawknife/drawknife/internal/engine/market"
	"github.com/drawknife/drawknife/internal/engine/model"
	"github.com/drawknife/drawknife/internal/engine/pricing"
	"github.com/drawknife/drawknife/internal/engine/trial"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// Worth contains values of the pods that would need another place if every node of the snapshot were removed. They are dual prices, like
// the Values of pending pods. No node that a pool could launch holds pods with a higher total value than its price. It is read-only.
type Worth struct {
	M       *model.Model
	ByClass []int64
	total   float64
	// items are the items for which values were computed. from has the earlier values on which these values are based, or nil if the values
	// are not based on earlier values.
	items []pricing.Item
	from  *KnownWorth
	// Rent is the amount by which the value of all pods exceeds the lower bound total, in nano-USD per hour. The reason is that
	// reservations can hold pods for less than their value, but only a limited number of pods.
	Rent int64
}

// FindWorth computes the values of the pods on the nodes. If the context is cancelled, it returns ctx.Err().
func FindWorth(ctx context.Context, m *model.Model, q planning.Query) (*Worth, error) {
	t, items := itemsOfNodes(m, q)
	return worthOf(ctx, m, t, items)
}

// Total returns a lower bound on the cost of new nodes for all pods of the Worth, in USD per hour.
func (w *Worth) Total() float64 { return w.total }

// Node returns the total value of the movable pods of the node with that name, in USD per hour, or 0 if the snapshot lacks the node.
func (w *Worth) Node(name string) float64 {
	i, ok := w.M.NodeIndex[name]
	if !ok {
		return 0
	}
	sum := int64(0)
	for _, p := range w.M.Nodes[i].Movable {
		sum += w.ByClass[p.Class]
	}
	return float64(sum) / market.NanoPerUSD
}

// Waiting returns a lower bound on the cost of new nodes for the pods that are pending in a trial, in USD per hour. The bound is the total
// value of these pods minus Rent, but at least 0.
func (w *Worth) Waiting(t *trial.Trial) float64 {
	return float64(max(0, w.WaitingNano(t)-w.Rent)) / market.NanoPerUSD
}

// WaitingNano returns the total value of the pending pods without subtracting Rent, in nano-USD per hour.
func (w *Worth) WaitingNano(t *trial.Trial) int64 {
	sum := int64(0)
	for class, n := range t.S.Waiting {
		if n > 0 {
			sum += int64(n) * w.ByClass[class]
		}
	}
	return sum
}

// Load describes the pods that a trial has placed on a node: their number, and their total value in USD per hour.
type Load struct {
	Pods  int
	Worth float64
}

// Loads returns the loads of the snapshot's nodes by name, and the loads of planned nodes by number.
func (w *Worth) Loads(t *trial.Trial) (received map[string]Load, planned []Load) {
	received, planned = map[string]Load{}, make([]Load, len(t.S.Planned))
	for _, b := range t.S.Placed.All {
		if b.Count == 0 {
			continue
		}
		worth := float64(int64(b.Count)*w.ByClass[b.Class]) / market.NanoPerUSD
		if i := int(b.Host) - len(t.M.Nodes); i >= 0 {
			planned[i].Pods += int(b.Count)
			planned[i].Worth += worth
			continue
		}
		name := t.M.Nodes[b.Host].Name
		l := received[name]
		received[name] = Load{Pods: l.Pods + int(b.Count), Worth: l.Worth + worth}
	}
	return received, planned
}

// KnownWorth contains values of pods at an earlier time. The keys are the properties that determine the value: a pod's requests, and the
// kinds of new nodes on which it may be. It is plain immutable data, with an entry for each kind of pod that existed at that time. A nil
// KnownWorth is empty.
type KnownWorth struct{ byContent map[string]int64 }

// From returns the earlier values on which the values of w are based, or nil if w is not based on earlier values.
func (w *Worth) From() *KnownWorth { return w.from }

// Known returns the values in a form that a later call of WorthFrom can use. If the values of w are based on earlier values, Known returns
// the earlier values. Without this, the bound would get worse with each call of WorthFrom.
func (w *Worth) Known() *KnownWorth {
	switch {
	case w == nil:
		return nil
	case w.from != nil:
		return w.from
	}
	out := &KnownWorth{byContent: make(map[string]int64, len(w.items))}
	c := contents{m: w.M}
	for i := range w.items {
		out.byContent[string(c.of(&w.items[i]))] = w.ByClass[w.items[i].Class]
	}
	return out
}

// WorthFrom does the same as FindWorth, based on earlier values. This saves most of the work if few pods have changed: it proves the
// earlier values again, and adds values for new kinds of pods. If it can prove less than the share leastProven of the earlier values, or if
// too many pods are of new kinds, it computes all values like FindWorth. The values are as valid as the values of FindWorth, but the two
// can differ.
func WorthFrom(ctx context.Context, m *model.Model, q planning.Query, known *KnownWorth) (*Worth, error) {
	t, items := itemsOfNodes(m, q)
	if known == nil || len(items) == 0 {
		return worthOf(ctx, m, t, items)
	}
	p := &Of(t).NewProblem(items, nil).Problem
	if v := valuesAgain(m, p, items, known); v != nil {
		w := newWorth(m, items, v)
		w.from = known
		return w, ctx.Err()
	}
	return newWorth(m, items, pricing.Find(ctx, p).Best()), ctx.Err()
}

const (
	// leastProven is the minimum share that must be proven of the earlier value of all pods.
	leastProven = 0.998
	// newShare limits the number of pods of new kinds: at most one in newShare pods may be of a kind that the known values lack.
	newShare = 20
)

// valuesAgain computes values for the problem p from known values. It returns nil if the known values prove too little or are missing for
// too many pods, or if p has committed options or no options.
func valuesAgain(m *model.Model, p *pricing.Problem, items []pricing.Item, known *KnownWorth) *pricing.Values {
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

// contents computes texts of the properties that determine the values of pods. Pods with equal texts have equal values.
type contents struct {
	m       *model.Model
	byStage map[int32][]byte
	text    []byte
}

// The method of returns the text of an item. The text is valid until the next call.
func (c *contents) of(it *pricing.Item) []byte {
	stage, known := c.byStage[it.Stage]
	if !known {
		if c.byStage == nil {
			c.byStage = map[int32][]byte{}
		}
		for _, u := range c.m.Stages[it.Stage].Uses {
			f := &c.m.Pools[u.Pool].Profiles[u.Profile]
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
	for _, need := range c.m.Classes[it.Class].Unshared() {
		c.text = binary.AppendVarint(c.text, need)
	}
	c.text = append(c.text, stage...)
	return c.text
}

// itemsOfNodes returns the movable pods of all nodes as items for pricing, and a trial in which only these pods are pending.
func itemsOfNodes(m *model.Model, q planning.Query) (*trial.Trial, []pricing.Item) {
	t := trial.New(m)
	clear(t.S.Waiting)
	for i := range m.Nodes {
		for _, p := range m.Nodes[i].Movable {
			t.S.Waiting[p.Class]++
		}
	}
	t.Options = planning.PlaceOptions{Query: q}
	var items []pricing.Item
	for i, c := range m.Classes {
		if stages := t.StagesFor(c); t.S.Waiting[i] > 0 && c.Invalid == nil && len(stages) > 0 {
			items = append(items, Provable(m, int32(i), stages[0], int(t.S.Waiting[i])))
		}
	}
	return t, items
}

func worthOf(ctx context.Context, m *model.Model, t *trial.Trial, items []pricing.Item) (*Worth, error) {
	if len(items) == 0 {
		return &Worth{M: m, ByClass: make([]int64, len(m.Classes))}, ctx.Err()
	}
	return newWorth(m, items, pricing.Find(ctx, &Of(t).NewProblem(items, nil).Problem).Best()), ctx.Err()
}

func newWorth(m *model.Model, items []pricing.Item, v *pricing.Values) *Worth {
	w := &Worth{M: m, ByClass: make([]int64, len(m.Classes)), items: items, total: v.Bound / market.NanoPerUSD}
	sum := int64(0)
	for i, it := range items {
		w.ByClass[it.Class] = v.Item[i]
		sum += v.Item[i] * int64(it.Count)
	}
	w.Rent = max(0, sum-int64(v.Bound))
	w.addMoves()
	return w
}

// addMoves sets the values of gang members that move to another domain. A pod has the same value after the move as before it, because there
// are no additional kinds of nodes for the pod in the other domain.
func (w *Worth) addMoves() {
	if w.M.Gangs == nil {
		return
	}
	for i := range w.M.Gangs.List {
		for _, move := range w.M.Gangs.List[i].Moves {
			for from, to := range move.Classes {
				w.ByClass[to] = max(w.ByClass[to], w.ByClass[from])
			}
		}
	}
}
