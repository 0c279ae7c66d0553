package scheduling

import (
	"cmp"
	"context"
	"math"
	"slices"

	options "github.com/drawknife/drawknife/api/option"
	"github.com/drawknife/drawknife/internal/engine/existing"
	"github.com/drawknife/drawknife/internal/engine/filling"
	"github.com/drawknife/drawknife/internal/engine/layout"
	"github.com/drawknife/drawknife/internal/engine/market"
	"github.com/drawknife/drawknife/internal/engine/model"
	"github.com/drawknife/drawknife/internal/engine/nodepool"
	"github.com/drawknife/drawknife/internal/engine/offers"
	"github.com/drawknife/drawknife/internal/engine/podclass"
	"github.com/drawknife/drawknife/internal/engine/pricing"
	"github.com/drawknife/drawknife/internal/engine/resources"
	"github.com/drawknife/drawknife/internal/engine/state"
	"github.com/drawknife/drawknife/internal/engine/topology"
)

// Solve places the snapshot's waiting pods, on nodes it has and on planned ones, and explains those it can't place. The
// same model and query give the same plan. A cancelled context ends it with ctx.Err() and no plan.
func (m *Model) Solve(ctx context.Context, q Query) (*Plan, error) {
	if ctx == nil {
		return nil, options.Missing("Model.Solve", "the context")
	}
	t := m.Trial()
	if _, err := t.Place(ctx, PlaceOptions{Query: q}); err != nil {
		return nil, err
	}
	expected := m.preemptions(ctx, t, q)
	if len(expected.list) > 0 && q.Preemption == PreemptionExpect {
		t = m.Trial()
		t.leaveTo(expected)
		if _, err := t.Place(ctx, PlaceOptions{Query: q}); err != nil {
			return nil, err
		}
	}
	p, err := t.Plan(ctx)
	if err != nil {
		return nil, err
	}
	p.Preemptions = expected.list
	return p, nil
}

// placeAll places everything that waits: real pods together, then placeholders. If limits or lack of nodes leave
// some pods without a place while pods of lower priority have one, it starts again, priority by priority.
func (t *Trial) placeAll(ctx context.Context) {
	m := t.m
	var real, placeholders []int32
	for i, c := range m.c.Classes {
		switch {
		case t.s.Waiting[i] == 0:
		case c.Placeholder:
			placeholders = append(placeholders, int32(i))
		default:
			real = append(real, int32(i))
		}
	}
	if t.newOnly {
		t.placeReal(ctx, real)
		t.admitDevices(ctx)
		t.placeTogether(ctx, placeholders)
		return
	}
	start := t.Mark()
	least, promised := t.placeNominated(real, math.MinInt32)
	t.placeTiers(ctx, real)
	if highest, waits := t.highestWaiting(real); promised && waits && highest > least {
		t.undo(start)
		t.placeNominated(real, highest)
		t.placeTiers(ctx, real)
	}
	t.roomFirst(ctx, start, real)
	t.fillAgain(ctx, start, real)
	t.withLess(ctx, start, real)
	t.admitDevices(ctx)
	if len(placeholders) > 0 {
		t.placeTogether(ctx, placeholders)
	}
}

// placeTiers places real pods, and looks for places elsewhere for those that are in the way of others.
func (t *Trial) placeTiers(ctx context.Context, real []int32) {
	before := t.Mark()
	tried := t.placeReal(ctx, real)
	t.sparePlaces(ctx, before, real, tried)
	t.rearrange(ctx, before, real)
}

// placeReal places classes, as many pods of high priority as can be. It returns the nodes of the snapshot that it used
// before it looked for a way to place more.
func (t *Trial) placeReal(ctx context.Context, real []int32) (tried []int32) {
	before := t.Mark()
	t.placeTogether(ctx, real)
	if tiers := t.priorities(real); len(tiers) > 1 && t.inverted(before, real) {
		t.undo(before)
		for _, tier := range tiers {
			t.placeTogether(ctx, tier)
		}
		if t.s.Topology != nil && t.s.WaitingPods() > 0 {
			t.placeTogether(ctx, real) // pods that follow others of lower priority
		}
	}
	if t.newOnly {
		return nil
	}
	return t.searchFurther(ctx, before, real)
}

// placeTogether places classes. With MinValuesBestEffort those that have to settle for less variety than their pools ask
// for go first, so that the others can use what room their nodes have left, but get no such node of their own unless
// nothing else is left.
func (t *Trial) placeTogether(ctx context.Context, classes []int32) {
	if t.options.MinValues != MinValuesBestEffort {
		t.lenient = false
		t.placeClasses(ctx, classes)
		return
	}
	var settling, others []int32
	for _, class := range classes {
		if t.settlesForLess(class) {
			settling = append(settling, class)
		} else {
			others = append(others, class)
		}
	}
	t.lenient = true
	t.placeClasses(ctx, settling)
	t.lenient = false
	t.placeClasses(ctx, others)
	t.lenient = true
	t.placeClasses(ctx, slices.DeleteFunc(others, func(class int32) bool { return t.s.Waiting[class] == 0 }))
}

// priorities groups classes by priority, highest first.
func (t *Trial) priorities(classes []int32) [][]int32 {
	sorted := slices.Clone(classes)
	slices.SortStableFunc(sorted, func(a, b int32) int {
		return cmp.Compare(t.m.c.Classes[b].Priority, t.m.c.Classes[a].Priority)
	})
	var out [][]int32
	for i, class := range sorted {
		if i == 0 || t.m.c.Classes[class].Priority != t.m.c.Classes[sorted[i-1]].Priority {
			out = append(out, nil)
		}
		out[len(out)-1] = append(out[len(out)-1], class)
	}
	return out
}

// inverted reports whether a pod waits although a pod of lower priority was placed since the mark.
func (t *Trial) inverted(since Mark, classes []int32) bool {
	highest, waits := int32(0), false
	for _, class := range classes {
		c := t.m.c.Classes[class]
		if t.s.Waiting[class] > 0 && c.Invalid == nil && (!waits || c.Priority > highest) {
			highest, waits = c.Priority, true
		}
	}
	if !waits {
		return false
	}
	return slices.ContainsFunc(t.s.Placed, func(p state.Binding) bool { return t.m.c.Classes[p.Class].Priority < highest })
}

// placeClasses is the order of work: value the pods, fill the nodes there are, pack the rest onto new ones, admit
// all that by the exact rules, and look at what is left one by one.
func (t *Trial) placeClasses(ctx context.Context, classes []int32) {
	if !t.begin(classes) {
		return
	}
	c, before := t.cells, t.Mark()
	if len(t.s.Planned) > 0 && !t.newOnly {
		t.fillPlanned(classes)
	}
	bulk := slices.DeleteFunc(slices.Clone(classes), func(class int32) bool { return t.mustShare(t.m.c.Classes[class]) })
	wishes := t.wishes(c, bulk)
	if len(t.m.c.Nodes) > 0 && !t.newOnly {
		wishes = t.fillNodes(ctx, c, bulk, wishes)
	}
	if !t.options.ExistingOnly {
		t.packStages(ctx, c, wishes)
	}
	t.s.AbandonEmpty()
	t.placeLeft(ctx, classes)
	t.keepVaried(ctx, before, classes)
}

// placeLeft places what is left one by one, by the exact rules, so that a pod of the classes that still waits fits nowhere, and
// exchanges new nodes for the cheapest that would do.
func (t *Trial) placeLeft(ctx context.Context, classes []int32) {
	t.placeSingly(ctx, t.cells, classes)
	t.placeTightly(ctx, t.cells, classes)
	t.settle()
}

// maxDeals bounds how often up to maxRetriedPods pods are dealt out to cells for the room that there is; more are dealt out
// once.
const maxDeals = 4

// fillNodes places wishes on nodes of the snapshot and returns those that are left. Each class is dealt out as if the
// room in a cell were for it alone; where few find it taken, they are dealt out again, since another cell may have room.
func (t *Trial) fillNodes(ctx context.Context, c *layout.Cells, classes []int32, wishes []wish) []wish {
	if t.fillRoomy(ctx, c, wishes) {
		return nil
	}
	for round := 1; ; round++ {
		waiting := t.s.WaitingPods()
		t.admit(t.proposeExisting(ctx, c, wishes, t.classWorth(ctx, c, wishes), existing.FitFully, existing.FitGivingUp))
		crowded := slices.ContainsFunc(wishes, func(w wish) bool { return w.onNodes && w.count > 0 })
		if !crowded || waiting > maxRetriedPods || t.s.WaitingPods() == waiting || round == maxDeals || ctx.Err() != nil {
			return wishes
		}
		wishes = t.wishes(c, classes)
	}
}

// begin forgets what was remembered about nodes to buy; false if there is nothing to place.
func (t *Trial) begin(classes []int32) bool {
	if len(classes) == 0 {
		return false
	}
	t.cells = nil
	if t.s.Topology != nil {
		t.cells = layout.NewCells(t.m.c.Pools, t.m.c.TopologyKeys, t.s.Topology)
	}
	t.sites, t.varied, t.assigned = map[int32][]offers.Site{}, map[int32][]offers.Site{}, map[int32]map[int32][]nodepool.Assignment{}
	return true
}

// packStages packs wishes onto new nodes: each round every wish uses its best stage, and what limits leave without
// a node falls to the next.
func (t *Trial) packStages(ctx context.Context, c *layout.Cells, wishes []wish) {
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
			wishes[from[i]].count = int32(n)
			stageNo[from[i]]++
		}
	}
}

// itemFor turns a wish into an item at its first usable stage from stageNo on.
func (t *Trial) itemFor(c *layout.Cells, w *wish, stageNo *int) (pricing.Item, bool) {
	cl := t.m.c.Classes[w.class]
	if w.count == 0 {
		return pricing.Item{}, false
	}
	stages := t.stagesFor(cl)
	for ; *stageNo < len(stages); *stageNo++ {
		st := stages[*stageNo]
		if w.cell != layout.AnyCell && !t.sells(c, st, w.cell, cl.Requests) {
			continue
		}
		it := pricing.Item{Class: w.class, Place: pricing.Place{Stage: st, Cell: w.cell, Rules: t.rulesFor(cl)}, Count: int(w.count), Need: cl.Requests, PerNode: pricing.Unbounded}
		if cl.Topology != nil {
			it.Topology = cl.Topology
			it.PerNode = topology.AdmitsHost(t.m.c.Topology, cl.Topology, func(int32) topology.Tally { return topology.Tally{} })
		}
		return it, true
	}
	return pricing.Item{}, false
}

// rules are those that hold for every place now.
func (t *Trial) rules() pricing.PlaceRules {
	if t.lenient {
		return 0
	}
	return pricing.VarietyKept
}

// rulesFor adds those for the class: pods that could use a reservation wait for one under ReservedStrict.
func (t *Trial) rulesFor(c *podclass.Class) pricing.PlaceRules {
	if t.awaitsReservation(c) {
		return t.rules() | pricing.ReservedOnly
	}
	return t.rules()
}

// awaitsReservation reports whether the class must not be placed but on a reservation.
func (t *Trial) awaitsReservation(c *podclass.Class) bool {
	return t.options.Reserved == ReservedStrict && slices.ContainsFunc(c.Stages, func(st int32) bool { return t.m.reservedFor(st, c.Requests) })
}

// reservedFor reports whether the stage has a reserved node with instances left that holds the requests.
func (m *Model) reservedFor(stage int32, requests []int64) bool {
	dims := m.c.Resources.Len()
	for _, u := range m.c.Stages[stage].Uses {
		p := m.c.Pools[u.Pool]
		c := p.Table.Catalog
		f := &p.Profiles[u.Profile]
		for s := range f.Slots.Members {
			if id := c.Slots[s].Reservation; id == "" || c.Reservations[id] <= 0 {
				continue
			}
			for r := range f.Rows.Members {
				row := &p.Table.Rows[r]
				if row.Slots.Has(s) && c.Price(row.Variant, s) != market.NoPrice && resources.Fits(requests, p.Table.AllocOf(r, dims)) {
					return true
				}
			}
		}
	}
	return false
}

// sells reports whether the stage has a node in the cell that holds one pod.
func (t *Trial) sells(c *layout.Cells, stage, cell int32, need []int64) bool {
	return slices.ContainsFunc(t.sitesOf(c, stage, t.sites), func(s offers.Site) bool { return s.Cell == cell && resources.Fits(need, s.Alloc) })
}

// classWorth is what a pod of each class would cost on a new node, in nano-USD per hour.
func (t *Trial) classWorth(ctx context.Context, c *layout.Cells, wishes []wish) []int64 {
	worth := make([]int64, len(t.m.c.Classes))
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
	v := pricing.Find(ctx, &t.newProblem(items, c).Problem)
	for i, it := range items {
		worth[it.Class] = max(worth[it.Class], v.Item[i])
	}
	return worth
}

// nodesFor lists usable nodes that have room for a pod of some wish, ascending. The others play no part: where pods go
// does not depend on nodes that could take none.
func (t *Trial) nodesFor(wishes []*wish) []int32 {
	m := t.m
	out := make([]int32, 0, len(m.c.Nodes))
	for i := range t.s.Usable.Members {
		free, group := t.s.FreeOf(int32(i)), m.c.Nodes[i].Group
		if slices.ContainsFunc(wishes, func(w *wish) bool {
			c := m.c.Classes[w.class]
			return resources.Fits(c.Requests, free) && m.c.Fits.Accepts(group, c.Shape)
		}) {
			out = append(out, int32(i))
		}
	}
	return out
}

// sizes measures vectors by the share they take of all that is free on the nodes.
func (t *Trial) sizes(nodes []int32) func([]int64) float64 {
	total := make([]float64, t.m.c.Resources.Len())
	for _, i := range nodes {
		for d, f := range t.s.FreeOf(i) {
			total[d] += float64(max(f, 0))
		}
	}
	return func(v []int64) float64 {
		sum := 0.0
		for d, x := range v {
			if total[d] > 0 {
				sum += float64(x) / total[d]
			}
		}
		return sum
	}
}

// sortByRoom sorts nodes: initialised before others, then those with least room first.
func (t *Trial) sortByRoom(nodes []int32, size func([]int64) float64) {
	room := make([]float64, len(t.m.c.Nodes))
	for _, i := range nodes {
		room[i] = size(t.s.FreeOf(i))
	}
	slices.SortFunc(nodes, func(a, b int32) int {
		return cmp.Or(model.BoolCompare(t.m.c.Nodes[b].Initialized, t.m.c.Nodes[a].Initialized), cmp.Compare(room[a], room[b]), cmp.Compare(a, b))
	})
}

// packNew buys nodes for the items, as far as limits allow, and admits the pods. It returns how many of each item
// found no node.
func (t *Trial) packNew(ctx context.Context, c *layout.Cells, items []pricing.Item) []int {
	p := t.newJoined(items, c)
	j := p.Alike
	p.Rough = t.s.Topology != nil // the plan is then proven by another
	if !t.gated(p) && len(p.Committed) == 0 {
		filling.Seed(ctx, &p.Problem, t.m.hostRules(), seedingEffort(podsOf(p.Items)))
	}
	v := pricing.Find(ctx, &p.Problem)
	if len(p.Committed) > 0 {
		return j.Left(t.packCommitted(ctx, p, v))
	}
	return j.Left(t.packProblem(ctx, p, v))
}

// Pods is how many pods the items are.
func podsOf(items []pricing.Item) int {
	sum := 0
	for i := range items {
		sum += items[i].Count
	}
	return sum
}

// packProblem is packNew for a problem with its values, commitments aside.
func (t *Trial) packProblem(ctx context.Context, p *offers.Choice, v *pricing.Values) []int {
	m, items := t.m, p.Items
	var g filling.Gate
	if t.gated(p) {
		g = newLedger(t, p)
	}
	k := filling.NewPacker(filling.NewTask(&p.Problem, v, m.hostRules()), g)
	first := len(t.s.Planned) == 0
	packed := k.First(ctx)
	if g == nil && len(packed.List) > 0 && podsOf(items) > 1 && k.Waiting() == 0 {
		k.Improve(ctx, packed, packingEffort(t.options.Effort, podsOf(items)))
	}
	t.buy(p, packed)
	t.proof = nil
	shares := slices.ContainsFunc(items, func(it pricing.Item) bool { return len(m.c.Classes[it.Class].Shared) > 0 })
	if first && !slices.ContainsFunc(k.Left, func(n int) bool { return n > 0 }) && t.s.Topology == nil && !shares && !m.ruled(items) && !m.countsTooFew() {
		t.proof = &proof{p, v}
	}
	return k.Left
}

// buy opens the packing's nodes and admits their pods. Nodes whose types turn out less varied than their pool's
// minValues ask for, since pods of several classes together leave too few, are not bought after all; and since others may
// have been admitted because of their pods, everything is admitted again. What that leaves is looked at one by one later.
func (t *Trial) buy(p *offers.Choice, g *filling.Bins) {
	skip := make([]bool, len(g.List))
	for round := 1; ; round++ {
		before := t.Mark()
		again := false
		for i, host := range t.buyBins(p, g, skip) {
			if host < 0 || !t.strictVariety(t.m.c.Pools[p.Options[g.List[i].Option].Pool]) {
				continue
			}
			if round == maxBuys || !t.stillVaried(host-int32(len(t.m.c.Nodes)), t.s.LoadOf(host)) {
				skip[i], again = true, true
			}
		}
		if !again {
			return
		}
		t.undo(before)
	}
}

// maxBuys bounds how often a packing is admitted again; after that, no node is bought in bulk from a pool with minValues.
const maxBuys = 4

// buyBins opens the nodes of the bins that are not to be skipped and admits their pods. It returns the host of each
// bin, or -1.
func (t *Trial) buyBins(p *offers.Choice, g *filling.Bins, skip []bool) []int32 {
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
		host := t.s.Open(state.Node{Pool: o.Pool, Row: o.Row, Slot: o.Slot, Labels: p.Assigned[o.Pool][o.Assign].Labels, Price: o.Price, Commitment: o.Commitment})
		if t.disturbs(host) {
			t.undo(before)
			continue // its pods are looked at one by one
		}
		hosts[i] = host
		propose := func(it *pricing.Item, n int32) {
			list = append(list, proposal{state.Binding{Class: it.Class, Host: host, Count: n, Stage: it.Stage}, it.Topology == nil})
		}
		for _, l := range t.m.inOrder(&p.Problem, b.Load) {
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

// InOrder puts pods first that state a spread over single nodes: it looks at what is on the node when they come.
func (m *Model) inOrder(p *pricing.Problem, loads []pricing.Load) []pricing.Load {
	if m.c.Topology == nil {
		return loads
	}
	out := slices.Clone(loads)
	slices.SortStableFunc(out, func(a, b pricing.Load) int {
		return model.BoolCompare(topology.SpreadsOnHosts(m.c.Topology, p.Items[b.Item].Topology), topology.SpreadsOnHosts(m.c.Topology, p.Items[a.Item].Topology))
	})
	return out
}

// Rules are the rules about single nodes.
func (m *Model) hostRules() *filling.Rules {
	return &filling.Rules{Groups: m.c.Topology, Residents: m.addResidents}
}

// addResidents counts the DaemonSet pods of a new node.
func (m *Model) addResidents(n *topology.OneNode, pool, row int32) {
	for _, class := range m.c.Pools[pool].Table.Rows[row].Residents {
		n.Add(m.c.Classes[class].Topology, 1)
	}
}
