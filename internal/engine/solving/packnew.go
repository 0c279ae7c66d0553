package solving

import (
	"context"
	"slices"

	"github.com/drawknife/drawknife/internal/engine/filling"
	"github.com/drawknife/drawknife/internal/engine/layout"
	"github.com/drawknife/drawknife/internal/engine/model"
	"github.com/drawknife/drawknife/internal/engine/offers"
	"github.com/drawknife/drawknife/internal/engine/placing"
	"github.com/drawknife/drawknife/internal/engine/pricing"
	"github.com/drawknife/drawknife/internal/engine/state"
	"github.com/drawknife/drawknife/internal/engine/topology"
	"github.com/drawknife/drawknife/internal/engine/valuing"
)

// packStages packs the pods of the wishes onto new nodes. In the first round, the pods of every wish use its first usable stage. In each
// further round, the pods that got no node use the wish's next stage.
func (t Solving) packStages(ctx context.Context, c *layout.Cells, wishes []placing.Wish) {
	stageNo := make([]int, len(wishes))
	for ctx.Err() == nil {
		var items []pricing.Item
		var from []int
		for i := range wishes {
			if it, ok := t.itemFor(c, &wishes[i], &stageNo[i]); ok {
				items = append(items, it)
				from = append(from, i)
			}
		}
		if len(items) == 0 {
			return
		}
		left := t.packNew(ctx, c, items)
		for i, n := range left {
			wishes[from[i]].Count = int32(n)
			stageNo[from[i]]++
		}
	}
}

// itemFor converts a wish to an item for the wish's first usable stage, beginning at the index *stageNo, and sets *stageNo to the index of
// this stage. It returns false if there is no such stage.
func (t Solving) itemFor(c *layout.Cells, w *placing.Wish, stageNo *int) (pricing.Item, bool) {
	cl := t.M.Classes[w.Class]
	if w.Count == 0 {
		return pricing.Item{}, false
	}
	stages := t.StagesFor(cl)
	for ; *stageNo < len(stages); *stageNo++ {
		st := stages[*stageNo]
		if w.Cell != layout.AnyCell && !t.Sells(c, st, w.Cell, cl.Requests) {
			continue
		}
		it := pricing.Item{Class: w.Class, Place: pricing.Place{Stage: st, Cell: w.Cell, Rules: t.RulesFor(cl)}, Count: int(w.Count), Need: cl.Requests, PerNode: pricing.Unbounded}
		if cl.Topology != nil {
			it.Topology = cl.Topology
			it.PerNode = topology.AdmitsHost(t.M.Topology, cl.Topology, func(int32) topology.Tally { return topology.Tally{} })
		}
		return it, true
	}
	return pricing.Item{}, false
}

// classWorth returns the cost of a pod of each class on a new node in nano-USD per hour. All costs are 0 if pods of only one class are
// pending, because they compete with no other pods.
func (t Solving) classWorth(ctx context.Context, c *layout.Cells, wishes []placing.Wish) []int64 {
	worth := make([]int64, len(t.M.Classes))
	if !slices.ContainsFunc(wishes, func(w placing.Wish) bool { return w.Class != wishes[0].Class }) {
		return worth
	}
	var items []pricing.Item
	for i := range wishes {
		no := 0
		if it, ok := t.itemFor(c, &wishes[i], &no); ok {
			items = append(items, it)
		}
	}
	if len(items) == 0 {
		return worth
	}
	v := pricing.Find(ctx, &valuing.Of(t.Trial).NewProblem(items, c).Problem)
	for i, it := range items {
		worth[it.Class] = max(worth[it.Class], v.Item[i])
	}
	return worth
}

// packNew buys nodes for the items within limits, and admits the pods. It returns the number of pods of each item that got no node.
func (t Solving) packNew(ctx context.Context, c *layout.Cells, items []pricing.Item) []int {
	like := packings{t}
	key := like.keyOf(items)
	if known := like.known(key); known != nil {
		return like.buyKnown(known)
	}
	p := valuing.Of(t.Trial).NewJoined(items, c)
	j := p.Alike
	p.Rough = t.S.Topology != nil // with topology rules, approximate values are enough here, because the plan's lower bound is proven with another linear program
	if !t.gated(p) && len(p.Committed) == 0 {
		filling.Seed(ctx, &p.Problem, hostRules(t.M), seedingEffort(podsOf(p.Items)))
	}
	v := pricing.Find(ctx, &p.Problem)
	if len(p.Committed) > 0 {
		return j.Left(t.packCommitted(ctx, p, v))
	}
	packed, left := like.pack(ctx, p, v)
	like.remember(ctx, key, p, packed, left)
	like.buyAll(p, v, packed, left)
	return j.Left(left)
}

// podsOf returns the number of pods of the items.
func podsOf(items []pricing.Item) int {
	sum := 0
	for i := range items {
		sum += items[i].Count
	}
	return sum
}

// packProblem does the same as packNew, for a problem with known values and without commitments.
func (t Solving) packProblem(ctx context.Context, p *offers.Choice, v *pricing.Values) []int {
	packed, left := packings{t}.pack(ctx, p, v)
	packings{t}.buyAll(p, v, packed, left)
	return left
}

// buy opens the packing's nodes and admits their pods. If the pods of a node leave too few instance types for their pool's minValues, the
// node is not bought. Other pods may have been admitted because of the pods on such a node, so all pods are then admitted again. The pods
// of nodes that are not bought are placed one by one later.
func (t Solving) buy(p *offers.Choice, g *filling.Bins) {
	skip := make([]bool, len(g.List))
	for round := 1; ; round++ {
		before := t.Mark()
		again := false
		for i, host := range t.buyBins(p, g, skip) {
			if host < 0 || !t.StrictVariety(t.M.Pools[p.Options[g.List[i].Option].Pool]) {
				continue
			}
			if round == maxBuys || !placing.GrowthOf(t.Trial).StillVaried(host-int32(len(t.M.Nodes)), t.S.Placed.Load(host)) {
				skip[i], again = true, true
			}
		}
		if !again {
			return
		}
		t.Undo(before)
	}
}

// maxBuys is the maximum number of times that the pods of a packing are admitted again. After that, no node from a pool with minValues is
// bought for the packing.
const maxBuys = 4

// buyBins opens the nodes of all bins that are not skipped, and admits their pods. It returns the number of each bin's node, or -1 if no
// node was opened for the bin.
func (t Solving) buyBins(p *offers.Choice, g *filling.Bins, skip []bool) []int32 {
	var list []proposal
	hosts := make([]int32, len(g.List))
	var pods *offers.Split
	if p.Alike != nil {
		pods = p.Alike.Split()
	}
	for i := range g.List {
		hosts[i] = -1
		if skip[i] {
			continue
		}
		b := &g.List[i]
		o := &p.Options[b.Option]
		before := t.Mark()
		host := t.S.Open(state.Node{Pool: o.Pool, Row: o.Row, Slot: o.Slot, Labels: p.Assigned[o.Pool][o.Assign].Labels, Price: o.Price, Commitment: o.Commitment})
		if placing.SpreadsOf(t.Trial).Disturbs(host) {
			t.Undo(before)
			continue // the pods of this node are placed one by one later
		}
		hosts[i] = host
		propose := func(it *pricing.Item, n int32) {
			list = append(list, proposal{state.Binding{Class: it.Class, Host: host, Count: n, Stage: it.Stage}, it.Topology == nil})
		}
		for _, l := range spreadsFirst(t.M, &p.Problem, b.Load) {
			if pods == nil {
				propose(&p.Items[l.Item], l.Count)
			} else {
				pods.Next(l.Item, l.Count, propose)
			}
		}
	}
	t.admit(list)
	return hosts
}

// spreadsFirst sorts pods with a spread over single nodes before other pods, because the check of this spread considers only the pods that
// are already on the node.
func spreadsFirst(m *model.Model, p *pricing.Problem, loads []pricing.Load) []pricing.Load {
	if m.Topology == nil {
		return loads
	}
	out := slices.Clone(loads)
	slices.SortStableFunc(out, func(a, b pricing.Load) int {
		return model.BoolCompare(topology.SpreadsOnHosts(m.Topology, p.Items[b.Item].Topology), topology.SpreadsOnHosts(m.Topology, p.Items[a.Item].Topology))
	})
	return out
}

// hostRules returns the rules about single nodes.
func hostRules(m *model.Model) *filling.Rules {
	return &filling.Rules{Groups: m.Topology, Residents: func(n *topology.OneNode, pool, row int32) { addResidents(m, n, pool, row) }}
}

// addResidents adds the DaemonSet pods of a new node to the pod counts n.
func addResidents(m *model.Model, n *topology.OneNode, pool, row int32) {
	for _, class := range m.Pools[pool].Table.Rows[row].Residents {
		n.Add(m.Classes[class].Topology, 1)
	}
}
