package launching

import (
	"cmp"
	"context"
	"slices"

	"github.com/drawknife/drawknife/internal/engine/bitset"
	"github.com/drawknife/drawknife/internal/engine/layout"
	"github.com/drawknife/drawknife/internal/engine/market"
	"github.com/drawknife/drawknife/internal/engine/newnodes"
	"github.com/drawknife/drawknife/internal/engine/nodepool"
	"github.com/drawknife/drawknife/internal/engine/placing"
	"github.com/drawknife/drawknife/internal/engine/resources"
	"github.com/drawknife/drawknife/internal/engine/solving"
	"github.com/drawknife/drawknife/internal/engine/state"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// Launch opens one new node for all pending pods. It takes the cheapest node that holds all of them, from the pools that the pods would use
// first. It returns the price in USD per hour. If no such node costs less than the parameter below, it changes nothing and returns false.
// Place may still find several nodes that together hold the pods.
func (t *Launching) Launch(q planning.Query, below float64) (price float64, ok bool) {
	t.Options = planning.PlaceOptions{Query: q}
	classes := t.WaitingClasses()
	if len(classes) == 0 {
		return 0, false
	}
	t.Begin(classes)
	total := make([]int64, t.M.Resources.Len())
	for _, class := range classes {
		c := t.M.Classes[class]
		if c.Invalid != nil || t.AwaitsReservation(c) || len(t.StagesFor(c)) == 0 {
			return 0, false
		}
		resources.AddScaled(total, c.Requests, int64(t.S.Waiting[class]))
	}
	most := int64(below * market.NanoPerUSD)
	for _, o := range t.joint(classes, total, most) {
		if t.launch(&o, classes) {
			return float64(o.Price) / market.NanoPerUSD, true
		}
	}
	return 0, false
}

// joint returns the nodes that could hold all pending pods of the classes and cost less than the parameter most, sorted by price. The list
// has the cheapest node of each pool or, if rules concern the pods, of each of the pool's cells.
func (t *Launching) joint(classes []int32, total []int64, most int64) []state.Node {
	m := t.M
	ruled := slices.ContainsFunc(classes, func(class int32) bool { return m.Classes[class].Topology != nil })
	var out []state.Node
	for _, u := range m.Stages[t.StagesFor(m.Classes[classes[0]])[0]].Uses {
		p := m.Pools[u.Pool]
		rows, slots, ok := t.jointProfile(u.Pool, classes)
		if !ok || t.StrictVariety(p) {
			continue
		}
		table := p.Table
		if !ruled && t.Cells == nil {
			row, slot, price := table.CheapestWith(total, rows, slots, most, func(buy nodepool.Purchase) bool {
				return t.S.Limits.Affordable(u.Pool, buy.Row) && t.S.Limits.Reservable(u.Pool, buy.Row, buy.Slot)
			})
			if row >= 0 {
				out = append(out, state.Node{Pool: u.Pool, Row: row, Slot: slot, Price: price})
			}
			continue
		}
		out = append(out, t.jointByCell(u.Pool, total, rows, slots, most, ruled)...)
	}
	slices.SortStableFunc(out, func(a, b state.Node) int { return cmp.Compare(a.Price, b.Price) })
	return out
}

// jointByCell returns, for each cell, the cheapest node of the pool that has room for the total need and costs less than the parameter
// most. The cells are sorted by the lowest row, and then by the lowest slot, of their nodes.
func (t *Launching) jointByCell(pool int32, total []int64, rows, slots bitset.Set, most int64, ruled bool) []state.Node {
	table := t.M.Pools[pool].Table
	type found struct {
		cell  int32
		first nodepool.Purchase
		best  state.Node
	}
	var list []found
	before := func(row, slot int32, p nodepool.Purchase) bool { return row < p.Row || row == p.Row && slot < p.Slot }
	in := table.Ordered(len(total))
	for i := in.Next(total, 0); i >= 0; i = in.Next(total, i+1) {
		buy := in.List[i]
		price := table.Catalog.Price(table.Rows[buy.Row].Variant, int(buy.Slot))
		if price >= most {
			break
		}
		if !rows.Has(int(buy.Row)) || !slots.Has(int(buy.Slot)) || !t.S.Limits.Affordable(pool, buy.Row) || !t.S.Limits.Reservable(pool, buy.Row, buy.Slot) {
			continue
		}
		cell := int32(layout.AnyCell)
		if ruled || (t.Cells != nil && table.Rows[buy.Row].Resident != 0) {
			cell = t.Cells.OfNew(pool, buy.Row, buy.Slot, &nodepool.Assignment{})
		}
		at := slices.IndexFunc(list, func(f found) bool { return f.cell == cell })
		if at < 0 {
			list = append(list, found{cell, buy, state.Node{Pool: pool, Row: buy.Row, Slot: buy.Slot, Price: price}})
			continue
		}
		f := &list[at]
		if before(buy.Row, buy.Slot, f.first) {
			f.first = buy
		}
		if b := &f.best; price == b.Price && before(buy.Row, buy.Slot, nodepool.Purchase{Row: b.Row, Slot: b.Slot}) {
			b.Row, b.Slot = buy.Row, buy.Slot
		}
	}
	slices.SortFunc(list, func(a, b found) int {
		return cmp.Or(cmp.Compare(a.first.Row, b.first.Row), cmp.Compare(a.first.Slot, b.first.Slot))
	})
	out := make([]state.Node, len(list))
	for i := range list {
		out[i] = list[i].best
	}
	return out
}

// jointProfile returns the instance types and offerings (rows and slots) of the pool that pods of all the classes may use, each class at
// its first stage. It returns false if some class does not use the pool at that stage, or leaves labels undecided.
func (t *Launching) jointProfile(pool int32, classes []int32) (rows, slots bitset.Set, ok bool) {
	m := t.M
	for _, key := range m.TopologyKeys {
		if m.Pools[pool].LeftOpen(key) {
			return nil, nil, false
		}
	}
	rows, slots = m.Pools[pool].Rows.Clone(), m.Pools[pool].Slots.Clone()
	for _, class := range classes {
		found := false
		for _, u := range m.Stages[t.StagesFor(m.Classes[class])[0]].Uses {
			if u.Pool != pool {
				continue
			}
			f := &m.Pools[pool].Profiles[u.Profile]
			if len(f.Open) > 0 {
				return nil, nil, false
			}
			rows.And(f.Rows)
			slots.And(f.Slots)
			found = true
			break
		}
		if !found {
			return nil, nil, false
		}
	}
	return rows, slots, !rows.Empty() && !slots.Empty()
}

// launch opens the node and puts all pending pods of the classes on it. If some of them don't fit, it changes nothing and returns false.
func (t *Launching) launch(mc *state.Node, classes []int32) bool {
	before := t.Mark()
	host := t.S.Open(*mc)
	if placing.SpreadsOf(t.Trial).Disturbs(host) {
		t.Undo(before)
		return false
	}
	for progress := true; progress; {
		progress = false
		for _, class := range classes {
			c := t.M.Classes[class]
			stage := t.StagesFor(c)[0]
			for t.S.Waiting[class] > 0 && t.S.Admits(c, host) {
				n := t.S.Waiting[class]
				if c.Topology != nil {
					n, progress = 1, true
				}
				t.Add(state.Binding{Class: class, Host: host, Count: n, Stage: stage})
			}
		}
	}
	if slices.ContainsFunc(classes, func(class int32) bool { return t.S.Waiting[class] > 0 }) {
		t.Undo(before)
		return false
	}
	return true
}

// PlaceNew is like Place, but puts pods only on new nodes: nodes of the snapshot, and nodes planned before, take no pods. It is for
// planners that have already used Move to fill the other nodes.
func (t *Launching) PlaceNew(ctx context.Context, q planning.Query) (planning.Outcome, error) {
	t.Fresh = len(t.S.Planned)
	t.NewOnly = true
	defer func() { t.NewOnly, t.Fresh = false, 0 }()
	o := planning.PlaceOptions{Query: q}
	if t.answers == nil || slices.ContainsFunc(t.S.Planned, func(mc state.Node) bool { return mc.Unused() }) {
		return solving.Of(t.Trial).Place(ctx, o)
	}
	asked, memorable := t.question(askedPlace, q, nil)
	if !memorable {
		return solving.Of(t.Trial).Place(ctx, o)
	}
	before, pods, nodes, cost := t.Mark(), t.S.Waiting.Pods(), t.S.Planned.Filled(), newnodes.Of(t.Trial).NewCost()
	if _, known := t.recalled(asked); known {
		out := planning.Outcome{Unplaced: t.S.Waiting.Pods(), NewNodes: t.S.Planned.Filled() - nodes, NewCost: float64(newnodes.Of(t.Trial).NewCost()-cost) / market.NanoPerUSD}
		out.Placed = pods - out.Unplaced
		return out, ctx.Err()
	}
	out, err := solving.Of(t.Trial).Place(ctx, o)
	// If there are topology rules, the result is cached only if all pods got places.
	if err == nil && (out.Unplaced == 0 || t.S.Topology == nil) {
		t.keepAnswer(asked, before, out.NewCost, out.Unplaced == 0)
	}
	return out, err
}
