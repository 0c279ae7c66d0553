package scheduling

import (
	"cmp"
	"context"
	"slices"
)

// Query is what Solve is asked. The zero value asks for places for all waiting pods.
type Query struct{}

// Solve places the snapshot's waiting pods, on machines it has and on new ones, and explains those it can't place. The
// same model and query give the same plan. A cancelled context ends it with ctx.Err() and no plan.
func (m *Model) Solve(ctx context.Context, q Query) (*Plan, error) {
	t := m.Trial()
	if _, err := t.Place(ctx, PlaceOptions{}); err != nil {
		return nil, err
	}
	return t.plan(ctx)
}

// placeAll is the order of work: value the pods, fill the machines there are, pack the rest onto new ones.
func (t *Trial) placeAll(ctx context.Context, o PlaceOptions) {
	stageNo := make([]int, len(t.m.classes))
	if len(t.m.nodes) > 0 {
		t.fillExisting(ctx, stageNo)
	}
	if o.ExistingOnly {
		return
	}
	// Each round every class uses its best stage; what limits left without a machine falls to the next.
	for ctx.Err() == nil {
		items := t.items(stageNo)
		if len(items) == 0 {
			return
		}
		t.packNew(ctx, items)
		for _, it := range items {
			if t.waiting[it.class] > 0 {
				stageNo[it.class]++
			}
		}
	}
}

// items are the classes that wait for a new machine, each at its present stage.
func (t *Trial) items(stageNo []int) []item {
	var out []item
	for i, c := range t.m.classes {
		if t.waiting[i] > 0 && stageNo[i] < len(c.stages) {
			out = append(out, item{
				class: int32(i), stage: c.stages[stageNo[i]], count: int(t.waiting[i]), need: c.requests, perMachine: unbounded,
			})
		}
	}
	return out
}

// fillExisting puts waiting pods on machines of the snapshot: what is free there costs nothing. Each machine is filled
// with the pods worth most; those that no new machine could take come first. Machines with the least left are
// filled first, so that whole machines stay free.
func (t *Trial) fillExisting(ctx context.Context, stageNo []int) {
	m := t.m
	worth := t.classWorth(ctx, stageNo)
	var order []int32
	for i := range m.classes {
		if t.waiting[i] > 0 && m.classes[i].invalid == nil {
			order = append(order, int32(i))
		}
	}
	size := t.sizes()
	slices.SortFunc(order, func(a, b int32) int {
		strandedA, strandedB := len(m.classes[a].stages) == 0, len(m.classes[b].stages) == 0
		return cmp.Or(boolCompare(strandedB, strandedA),
			-cmp.Compare(worth[a], worth[b]), -cmp.Compare(size(m.classes[a].requests), size(m.classes[b].requests)), cmp.Compare(a, b))
	})
	for _, node := range t.nodesByRoom(size) {
		if len(order) == 0 || ctx.Err() != nil {
			return
		}
		free := t.freeOf(node)
		if free[dimPods] <= 0 {
			continue
		}
		done := false
		for _, c := range order {
			if t.waiting[c] == 0 {
				done = true
				continue
			}
			n := howMany(m.classes[c].requests, free, int(t.waiting[c]))
			if n == 0 || !m.accepts(m.nodes[node].group, m.classes[c].shape) {
				continue
			}
			t.put(c, node, int32(n))
			done = done || t.waiting[c] == 0
			if free[dimPods] <= 0 {
				break
			}
		}
		if done {
			order = slices.DeleteFunc(order, func(c int32) bool { return t.waiting[c] == 0 })
		}
	}
}

// classWorth is what a pod of each class would cost on a new machine, in nano-USD per hour.
func (t *Trial) classWorth(ctx context.Context, stageNo []int) []int64 {
	worth := make([]int64, len(t.m.classes))
	items := t.items(stageNo)
	if len(items) == 0 {
		return worth
	}
	p := t.m.newProblem(items)
	v := t.m.findValues(ctx, p)
	for i, it := range items {
		worth[it.class] = v.item[i]
	}
	return worth
}

// sizes measures vectors by the share they take of all that is free.
func (t *Trial) sizes() func([]int64) float64 {
	dims := t.m.resources.len()
	total := make([]float64, dims)
	for i := range t.m.nodes {
		for d, f := range t.freeOf(int32(i)) {
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

// nodesByRoom lists usable machines: initialised before others, then those with least room first.
func (t *Trial) nodesByRoom(size func([]int64) float64) []int32 {
	out := make([]int32, 0, len(t.m.nodes))
	room := make([]float64, len(t.m.nodes))
	for i := range t.usable.members {
		out = append(out, int32(i))
		room[i] = size(t.freeOf(int32(i)))
	}
	slices.SortFunc(out, func(a, b int32) int {
		return cmp.Or(boolCompare(t.m.nodes[b].initialized, t.m.nodes[a].initialized), cmp.Compare(room[a], room[b]), cmp.Compare(a, b))
	})
	return out
}

// packNew buys machines for the items, as far as limits allow.
func (t *Trial) packNew(ctx context.Context, items []item) {
	m := t.m
	p := m.newProblem(items)
	v := m.findValues(ctx, p)
	var g gate
	if t.limited(p) {
		g = &limitGate{t: t, p: p, bought: t.usageCopy()}
	}
	k := newPacker(p, v, g)
	packed := &packing{}
	if s := newPatterns(p, v, v.pricing); s != nil && g == nil {
		packed = s.pack(ctx, k.left)
	}
	packed.bins = append(packed.bins, k.pack(ctx).bins...)
	t.proof = nil
	if len(t.machines) == 0 && !slices.ContainsFunc(k.left, func(n int) bool { return n > 0 }) {
		t.proof = &proof{p, v}
	}
	if g == nil {
		m.refine(ctx, p, packed, v, k.at)
	}
	for i := range packed.bins {
		t.launch(m.machineOf(p, &packed.bins[i]))
	}
}

// refine makes a packing cheaper without losing a pod.
func (m *Model) refine(ctx context.Context, p *problem, g *packing, v *values, at []int) {
	p.rightSize(g, at)
	p.dropEmptiable(g, at)
	p.rightSize(g, at)
	m.repack(ctx, p, g, v, at)
}

func (m *Model) machineOf(p *problem, b *bin) machine {
	o := &p.options[b.option]
	mc := machine{pool: o.pool, row: o.row, slot: o.slot, labels: p.assigned[o.pool][o.assign].labels, price: o.price, used: b.used}
	for _, l := range b.load {
		mc.loads = append(mc.loads, machineLoad{p.items[l.item].class, p.items[l.item].stage, l.count})
	}
	return mc
}

// limited reports whether any pool of the problem has limits.
func (t *Trial) limited(p *problem) bool {
	return slices.ContainsFunc(p.options, func(o option) bool { return t.m.pools[o.pool].limits != nil })
}

func (t *Trial) usageCopy() [][]int64 {
	out := make([][]int64, len(t.usage))
	for i := range out {
		out[i] = slices.Clone(t.usage[i])
	}
	return out
}

// limitGate keeps a packing inside the pools' limits.
type limitGate struct {
	t      *Trial
	p      *problem
	bought [][]int64
}

func (g *limitGate) room(_, option int32, want int) int {
	if o := &g.p.options[option]; !g.fits(o) {
		return 0
	}
	return want
}

func (g *limitGate) buy(option int32) bool {
	o := &g.p.options[option]
	if !g.fits(o) {
		return false
	}
	if pl := g.t.m.pools[o.pool]; pl.limits != nil {
		addScaled(g.bought[o.pool], pl.rowCost(int(o.row)), 1)
	}
	return true
}

func (g *limitGate) fits(o *option) bool {
	pl := g.t.m.pools[o.pool]
	if pl.limits == nil {
		return true
	}
	return pl.limits.allow(g.bought[o.pool], pl.rowCost(int(o.row)))
}
