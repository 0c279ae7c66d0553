package scheduling

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/internal/engine/bitset"
	"github.com/drawknife/drawknife/internal/engine/existing"
	"github.com/drawknife/drawknife/internal/engine/layout"
	"github.com/drawknife/drawknife/internal/engine/market"
	"github.com/drawknife/drawknife/internal/engine/nodepool"
	"github.com/drawknife/drawknife/internal/engine/podclass"
	"github.com/drawknife/drawknife/internal/engine/pricing"
	"github.com/drawknife/drawknife/internal/engine/resources"
	"github.com/drawknife/drawknife/internal/engine/state"
)

// Rank says which nodes of the snapshot Move may use, and in which order: each pod goes to the first that takes it. It
// holds until the next Rank. A name that the snapshot does not have, or one given twice, is an error and changes nothing.
func (t *Trial) Rank(order []string) error {
	nodes := make([]int32, 0, len(order))
	seen := bitset.New(len(t.m.c.Nodes))
	for _, name := range order {
		i, ok := t.m.c.NodeIndex[name]
		switch {
		case !ok:
			return fmt.Errorf("ranking node %q: the snapshot has none of that name", name)
		case seen.Has(i):
			return fmt.Errorf("ranking node %q: it is named twice", name)
		}
		seen.Add(i)
		nodes = append(nodes, int32(i))
	}
	t.rooms = t.newRoomIndex(nodes)
	return nil
}

// Move places waiting pods on nodes of the snapshot, by the same rules as Place but one class after another, the largest
// first, each on the first node of Rank's order that takes it: a query costs the logarithm of the nodes, so that a planner
// can try thousands of removals. Spreads count the domains that pools can reach, as in Place: what Move does not keep,
// provisioning would make up for with a new node. A node on which no wish is given up comes before one where some is. It returns how many
// pods still wait. Without a Rank nothing is placed.
func (t *Trial) Move(q Query) (left int) {
	t.options = PlaceOptions{Query: q, ExistingOnly: true}
	classes := t.waitingClasses()
	if t.rooms == nil || len(classes) == 0 {
		return t.s.WaitingPods()
	}
	t.moveClasses(classes)
	if stuck := t.unlaunchable(classes); len(stuck) > 0 {
		t.s.Topology.Binding = true
		t.moveClasses(stuck)
		t.s.Topology.Binding = false
	}
	for _, c := range classes {
		left += int(t.s.Waiting[c])
	}
	return left
}

// unlaunchable are the waiting classes under spreads that must be kept for which limits leave no new node: for those, and for
// no others, spreads count only the domains that there are, as Place does in the end.
func (t *Trial) unlaunchable(classes []int32) []int32 {
	if t.s.Topology == nil || !slices.ContainsFunc(t.m.c.Pools, func(p *nodepool.Pool) bool { return p.Limits != nil }) {
		return nil
	}
	var out []int32
	begun := false
	for _, class := range classes {
		if c := t.m.c.Classes[class]; t.s.Waiting[class] == 0 || c.Invalid != nil || !t.m.spreadHard(c.Topology) {
			continue
		}
		if !begun {
			begun = t.begin(classes)
		}
		if t.findSite(t.cells, class) == nil && t.findVariedSite(t.cells, class) == nil {
			out = append(out, class)
		}
	}
	return out
}

// waitingClasses are those with pods that wait and could be placed, by priority, then size.
func (t *Trial) waitingClasses() []int32 {
	var out []int32
	for i, n := range t.s.Waiting {
		if n > 0 {
			out = append(out, int32(i))
		}
	}
	size := func(class int32) float64 {
		if t.rooms == nil {
			return 0
		}
		return t.rooms.size[class]
	}
	slices.SortFunc(out, func(a, b int32) int {
		return cmp.Or(cmp.Compare(t.m.c.Classes[b].Priority, t.m.c.Classes[a].Priority), cmp.Compare(size(b), size(a)), cmp.Compare(a, b))
	})
	return out
}

// moveClasses goes over the classes until nothing finds a place any more: a pod may have to wait for others.
func (t *Trial) moveClasses(classes []int32) {
	for progress := true; progress; {
		progress = false
		for _, class := range classes {
			c := t.m.c.Classes[class]
			if t.s.Waiting[class] == 0 || c.Invalid != nil {
				continue
			}
			if t.moveClass(class, c, existing.FitFully, false) || t.moveClass(class, c, existing.FitGivingUp, true) {
				progress = progress || c.Topology != nil
			}
		}
	}
}

// moveClass places pods of the class on nodes that fit it so well; false if it placed none.
func (t *Trial) moveClass(class int32, c *podclass.Class, fit uint32, exactly bool) bool {
	moved := false
	need := c.Unshared()
	for t.s.Waiting[class] > 0 {
		node := t.rooms.first(t.m, class, need, fit, exactly, func(node int32) bool {
			return (len(c.Shared) == 0 || resources.Fits(t.s.Volumes.NeedOn(c, node), t.s.FreeOf(node))) && t.s.Admits(c, node)
		})
		if node < 0 {
			return moved
		}
		t.place(state.Binding{Class: class, Host: node, Count: t.bulkOn(class, node), Stage: -1, Tight: t.tightly(class)})
		moved = true
	}
	return moved
}

// Launch opens one new node for all pods that wait: the cheapest that holds them together, of the pools they would get one
// from first. It reports its price in USD per hour, and false, with nothing changed, if there is none that costs less than
// below; Place knows more ways.
func (t *Trial) Launch(q Query, below float64) (price float64, ok bool) {
	t.options = PlaceOptions{Query: q}
	classes := t.waitingClasses()
	if len(classes) == 0 {
		return 0, false
	}
	t.begin(classes)
	total := make([]int64, t.m.c.Resources.Len())
	for _, class := range classes {
		c := t.m.c.Classes[class]
		if c.Invalid != nil || t.awaitsReservation(c) || len(t.stagesFor(c)) == 0 {
			return 0, false
		}
		resources.AddScaled(total, c.Requests, int64(t.s.Waiting[class]))
	}
	most := int64(below * market.NanoPerUSD)
	for _, o := range t.joint(classes, total, most) {
		if t.launch(&o, classes) {
			return float64(o.Price) / market.NanoPerUSD, true
		}
	}
	return 0, false
}

// joint are the nodes for all waiting pods of the classes together that cost less than most: for each pool and, where
// rules concern the pods, each zone or other domain, the cheapest; by price.
func (t *Trial) joint(classes []int32, total []int64, most int64) []state.Node {
	m := t.m
	ruled := slices.ContainsFunc(classes, func(class int32) bool { return m.c.Classes[class].Topology != nil })
	var out []state.Node
	for _, u := range m.c.Stages[t.stagesFor(m.c.Classes[classes[0]])[0]].Uses {
		p := m.c.Pools[u.Pool]
		rows, slots, ok := t.jointProfile(u.Pool, classes)
		if !ok || t.strictVariety(p) {
			continue
		}
		table := p.Table
		if !ruled && t.cells == nil {
			row, slot, price := table.CheapestWith(total, rows, slots, most, func(buy nodepool.Purchase) bool {
				return t.s.Limits.Affordable(u.Pool, buy.Row) && t.s.Limits.Reservable(u.Pool, buy.Row, buy.Slot)
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

// jointByCell are the cheapest of the pool in each cell, those first of whose cell a purchase comes first by row and slot.
func (t *Trial) jointByCell(pool int32, total []int64, rows, slots bitset.Set, most int64, ruled bool) []state.Node {
	table := t.m.c.Pools[pool].Table
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
		if !rows.Has(int(buy.Row)) || !slots.Has(int(buy.Slot)) || !t.s.Limits.Affordable(pool, buy.Row) || !t.s.Limits.Reservable(pool, buy.Row, buy.Slot) {
			continue
		}
		cell := int32(layout.AnyCell)
		if ruled || (t.cells != nil && table.Rows[buy.Row].Resident != 0) {
			cell = t.cells.OfNew(pool, buy.Row, buy.Slot, &nodepool.Assignment{})
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

// jointProfile are the nodes of the pool that pods of all the classes may have, each at its first stage; false if some
// class does not use the pool then, or leaves labels to be decided.
func (t *Trial) jointProfile(pool int32, classes []int32) (rows, slots bitset.Set, ok bool) {
	m := t.m
	for _, key := range m.c.TopologyKeys {
		if m.c.Pools[pool].LeftOpen(key) {
			return nil, nil, false
		}
	}
	rows, slots = m.c.Pools[pool].Rows.Clone(), m.c.Pools[pool].Slots.Clone()
	for _, class := range classes {
		found := false
		for _, u := range m.c.Stages[t.stagesFor(m.c.Classes[class])[0]].Uses {
			if u.Pool != pool {
				continue
			}
			f := &m.c.Pools[pool].Profiles[u.Profile]
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

// launch opens the node and puts all waiting pods of the classes on it, or changes nothing.
func (t *Trial) launch(mc *state.Node, classes []int32) bool {
	before := t.Mark()
	host := t.s.Open(*mc)
	if t.disturbs(host) {
		t.undo(before)
		return false
	}
	for progress := true; progress; {
		progress = false
		for _, class := range classes {
			c := t.m.c.Classes[class]
			stage := t.stagesFor(c)[0]
			for t.s.Waiting[class] > 0 && t.s.Admits(c, host) {
				n := t.s.Waiting[class]
				if c.Topology != nil {
					n, progress = 1, true
				}
				t.place(state.Binding{Class: class, Host: host, Count: n, Stage: stage})
			}
		}
	}
	if slices.ContainsFunc(classes, func(class int32) bool { return t.s.Waiting[class] > 0 }) {
		t.undo(before)
		return false
	}
	return true
}

// Receivers are the nodes of the snapshot that have received pods since the mark, each once, in the order they first did.
// The mark must be one that could be rolled back to.
func (t *Trial) Receivers(since Mark) []string {
	var out []string
	seen := map[int32]bool{}
	for _, b := range t.s.PlacedSince(since.at) {
		if b.Count > 0 && b.Host < int32(len(t.m.c.Nodes)) && !seen[b.Host] {
			seen[b.Host] = true
			out = append(out, t.m.c.Nodes[b.Host].Name)
		}
	}
	return out
}

// PlaceNew is Place on new nodes of their own: nodes of the snapshot, and nodes planned before, take nothing. It is for
// planners that have found by Move what those take.
func (t *Trial) PlaceNew(ctx context.Context, q Query) (Outcome, error) {
	t.fresh = len(t.s.Planned)
	t.newOnly = true
	defer func() { t.newOnly, t.fresh = false, 0 }()
	o := PlaceOptions{Query: q}
	if t.answers == nil || slices.ContainsFunc(t.s.Planned, func(mc state.Node) bool { return mc.Unused() }) {
		return t.Place(ctx, o)
	}
	asked, memorable := t.question(askedPlace, q, nil)
	if !memorable {
		return t.Place(ctx, o)
	}
	before, pods, nodes, cost := t.Mark(), t.s.WaitingPods(), t.s.Filled(), t.newCost()
	if _, known := t.recalled(asked); known {
		out := Outcome{Unplaced: t.s.WaitingPods(), NewNodes: t.s.Filled() - nodes, NewCost: float64(t.newCost()-cost) / market.NanoPerUSD}
		out.Placed = pods - out.Unplaced
		return out, ctx.Err()
	}
	out, err := t.Place(ctx, o)
	// Where pods are left that a spread keeps from their places, each node has been looked at.
	if err == nil && (out.Unplaced == 0 || t.s.Topology == nil) {
		t.keepAnswer(asked, before, out.NewCost, out.Unplaced == 0)
	}
	return out, err
}

// Planned are the new nodes opened since the mark that have pods, in their order: as in Placed, without names and without
// their pods, and with the cheapest types only, at most so many, where their pool asks for no variety; 0 for all. Nodes that
// are alike share lists of types and amounts, also with those that other calls return: don't change them.
func (t *Trial) Planned(since Mark, types int) []NewNode {
	first := len(t.s.Planned) - t.s.Log.OpenedSince(since.at)
	loads := make([][]state.Binding, len(t.s.Planned)-first)
	for _, b := range t.s.PlacedSince(since.at) {
		if i := int(b.Host) - len(t.m.c.Nodes) - first; i >= 0 && b.Count > 0 {
			loads[i] = append(loads[i], b)
		}
	}
	var out []NewNode
	if t.described == nil {
		t.described = newDescriptions()
		t.described.allocatable = map[variantOf]corev1.ResourceList{}
	}
	described := t.described
	if len(described.byLoad) > mostDescribed {
		clear(described.byLoad)
	}
	described.most = types
	for i := first; i < len(t.s.Planned); i++ {
		if mc := &t.s.Planned[i]; !mc.Empty() {
			node := NewNode{Pool: t.m.c.Pools[mc.Pool].Key}
			t.describe(&node, mc, loads[i-first], described)
			out = append(out, node)
		}
	}
	return out
}

// mostDescribed is how many descriptions of new nodes are remembered for further calls of Planned.
const mostDescribed = 4096

// Worth says what pods of the snapshot's nodes are worth: dual prices as Values gives them for pods that wait, of all pods
// that would need another place if every node went. No node that a pool could launch holds pods worth more than it
// costs. It is read-only.
type Worth struct {
	m       *Model
	byClass []int64
	total   float64
	// items are what was priced, and from are the prices that these came from; nil where they were found without.
	items []pricing.Item
	from  *KnownWorth
	// rent is what pods are worth together beyond total, nano-USD per hour: reservations hold them for less, but only so many.
	rent int64
}

// Worth prices the pods of the nodes. A cancelled context gives ctx.Err().
func (m *Model) Worth(ctx context.Context, q Query) (*Worth, error) {
	t, items := m.itemsOfNodes(q)
	return m.worthOf(ctx, t, items)
}

// Total is a lower bound on what new nodes for all those pods would cost, USD per hour.
func (w *Worth) Total() float64 { return w.total }

// Node is what the pods of a node that could move are worth together, USD per hour; 0 for a name the snapshot lacks.
func (w *Worth) Node(name string) float64 {
	i, ok := w.m.c.NodeIndex[name]
	if !ok {
		return 0
	}
	sum := int64(0)
	for _, p := range w.m.c.Nodes[i].Movable {
		sum += w.byClass[p.Class]
	}
	return float64(sum) / market.NanoPerUSD
}

// Waiting is what the pods that wait in a trial of the model are worth together, USD per hour: new nodes for them cost at
// least that.
func (w *Worth) Waiting(t *Trial) float64 {
	return float64(max(0, w.waiting(t)-w.rent)) / market.NanoPerUSD
}

// waiting is what the pods that wait are worth by themselves, nano-USD per hour.
func (w *Worth) waiting(t *Trial) int64 {
	sum := int64(0)
	for class, n := range t.s.Waiting {
		if n > 0 {
			sum += int64(n) * w.byClass[class]
		}
	}
	return sum
}

// Waiting names pods that wait for a place, at most so many: those of hidden nodes, the last hidden first, then the snapshot's own.
// Of pods of one class those count as placed that were hidden first.
func (t *Trial) Waiting(most int) []PodKey {
	if most = min(most, t.s.WaitingPods()); most == 0 {
		return nil
	}
	var out []PodKey
	seen := map[int32]int32{}
	for i := len(t.s.Freed) - 1; i >= 0 && len(out) < most; i-- {
		p := t.s.Freed[i]
		if seen[p.Class] < t.s.Waiting[p.Class] {
			seen[p.Class]++
			out = append(out, PodKey{Namespace: p.Pod.Namespace, Name: p.Pod.Name})
		}
	}
	if len(t.m.c.Pods) == 0 || len(out) == most {
		return out
	}
	for class, c := range t.m.c.Classes {
		if t.s.Waiting[class] == 0 || c.Invalid != nil {
			continue
		}
		rest := min(int(t.s.Waiting[class]-seen[int32(class)]), most-len(out))
		for _, i := range c.Pending[:max(0, min(rest, len(c.Pending)))] {
			p := t.m.c.Pods[i]
			out = append(out, PodKey{Namespace: p.Namespace, Name: p.Name})
		}
	}
	return out
}

// Free is what a node of the snapshot has free; false for a name that it lacks.
func (m *Model) Free(name string) (corev1.ResourceList, bool) {
	i, ok := m.c.NodeIndex[name]
	if !ok {
		return nil, false
	}
	dims := m.c.Resources.Len()
	return m.c.Resources.List(m.c.Free[i*dims : (i+1)*dims]), true
}
