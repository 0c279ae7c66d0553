package scheduling

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/api/requirements"
)

// plan writes down what the trial did.
func (t *Trial) plan(ctx context.Context) (*Plan, error) {
	out := &Plan{}
	q := newPodQueues(t)
	t.writeExisting(out, q)
	t.writeMachines(out, q)
	t.writeUnschedulable(out, q)
	if len(t.machines) > 0 {
		pf := t.proofOf(ctx)
		out.LowerBound = pf.v.bound / nanoPerUSD
		out.Certificate = t.m.certificate(pf)
	}
	return out, ctx.Err()
}

// podQueues hands out the pods of each class one after another: first the snapshot's waiting ones, then those of hidden
// machines.
type podQueues struct {
	t    *Trial
	next []int
	// freed is indexed by class; nil when no machine is hidden.
	freed map[int32][]*corev1.Pod
	keys  []PodKey // chunk for the results
}

func newPodQueues(t *Trial) *podQueues {
	q := &podQueues{t: t, next: make([]int, len(t.m.classes))}
	if len(t.freed) > 0 {
		q.freed = map[int32][]*corev1.Pod{}
		for _, p := range t.freed {
			q.freed[p.class] = append(q.freed[p.class], p.pod)
		}
	}
	return q
}

// take appends the next n pods of the class.
func (q *podQueues) take(into []PodKey, class int32, n int) []PodKey {
	pending := q.t.m.classes[class].pending
	for range n {
		i := q.next[class]
		q.next[class]++
		var pod *corev1.Pod
		if i < len(pending) {
			pod = q.t.m.snapshot.Pods[pending[i]]
		} else {
			pod = q.freed[class][i-len(pending)]
		}
		into = append(into, PodKey{pod.Namespace, pod.Name})
	}
	return into
}

func (t *Trial) writeExisting(out *Plan, q *podQueues) {
	at := map[int32]int{}
	for _, p := range t.placed {
		i, ok := at[p.node]
		if !ok {
			i = len(out.Existing)
			at[p.node] = i
			out.Existing = append(out.Existing, ExistingNode{Name: t.m.nodes[p.node].name})
		}
		out.Existing[i].Pods = q.take(out.Existing[i].Pods, p.class, int(p.count))
	}
	slices.SortFunc(out.Existing, func(a, b ExistingNode) int { return cmp.Compare(a.Name, b.Name) })
}

func (t *Trial) writeMachines(out *Plan, q *podQueues) {
	m := t.m
	total := 0
	for i := range t.machines {
		for _, l := range t.machines[i].loads {
			total += int(l.count)
		}
	}
	keys := make([]PodKey, 0, total)
	numbers := map[int32]int{}
	flexible := map[string][]InstanceTypeOption{}
	cost := int64(0)
	for i := range t.machines {
		mc := &t.machines[i]
		numbers[mc.pool]++
		from := len(keys)
		for _, l := range mc.loads {
			keys = q.take(keys, l.class, int(l.count))
		}
		node := NewNode{
			Name: fmt.Sprintf("%s-%d", m.pools[mc.pool].key, numbers[mc.pool]),
			Pool: m.pools[mc.pool].key,
			Pods: keys[from:len(keys):len(keys)],
		}
		m.describe(&node, mc, flexible)
		cost += nanoUSD(node.InstanceTypes[0].Price)
		out.NewNodes = append(out.NewNodes, node)
	}
	out.HourlyCost = float64(cost) / nanoPerUSD
}

// describe fills in a new node's requirements, types and amounts.
func (m *Model) describe(node *NewNode, mc *machine, flexible map[string][]InstanceTypeOption) {
	p := m.pools[mc.pool]
	c := p.table.catalog
	rows, slots := p.rows.clone(), p.slots.clone()
	claim := p.template.Merge(mc.labels)
	for _, l := range mc.loads {
		f := m.profileFor(l.stage, mc)
		rows.and(f.rows)
		slots.and(f.slots)
		claim = claim.Merge(f.demand)
	}
	for r := range mc.labels.All {
		if _, stated := c.typeKeys[r.Key()]; stated {
			m.narrow(p, r, rows, slots)
		}
	}
	text := profileText(rows, slots, nil) + fmt.Sprint(mc.pool, mc.used, mc.row)
	options, ok := flexible[text]
	if !ok {
		options = m.optionsFor(p, mc, rows, slots)
		flexible[text] = options
	}
	node.InstanceTypes = options
	node.Requirements = m.claimRequirements(c, claim, slots)
	at := m.rowOf(p, options[0].Name, mc, rows, slots)
	used := slices.Clone(mc.used)
	dims := m.resources.len()
	addScaled(used, p.table.daemons[at*dims:(at+1)*dims], 1)
	node.Requests = m.resources.list(used)
	node.Allocatable = c.variants[p.table.rows[at].variant].allocatable
}

// profileFor is the alternative of the stage under which the machine takes the stage's pods.
func (m *Model) profileFor(stage int32, mc *machine) *profile {
	as := assignment{labels: mc.labels}
	for _, u := range m.stages[stage].uses {
		if u.pool != mc.pool {
			continue
		}
		if f := &m.pools[u.pool].profiles[u.profile]; f.rows.has(int(mc.row)) && f.slots.has(int(mc.slot)) && as.allows(f) {
			return f
		}
	}
	return &profile{rows: m.pools[mc.pool].rows, slots: m.pools[mc.pool].slots}
}

// optionsFor lists the instance types that hold the machine's pods, cheapest first, each with its cheapest offering. A
// type that would take more from the pool's limits than the planned one is left out.
func (m *Model) optionsFor(p *pool, mc *machine, rows, slots bitset) []InstanceTypeOption {
	t, c := p.table, p.table.catalog
	dims := m.resources.len()
	var most []int64
	if p.limits != nil {
		most = p.rowCost(int(mc.row))
	}
	best := map[int]InstanceTypeOption{}
	for r := range rows.members {
		if !fits(mc.used, t.allocOf(r, dims)) || (most != nil && !fits(p.rowCost(r), most)) {
			continue
		}
		slot, price := c.cheapest(t.rows[r].variant, t.rows[r].slots, slots)
		if slot < 0 {
			continue
		}
		typ := c.variants[t.rows[r].variant].typ
		if have, ok := best[typ]; ok && nanoUSD(have.Price) <= price {
			continue
		}
		best[typ] = InstanceTypeOption{Name: c.types[typ].Name, Zone: c.slots[slot].zone, CapacityType: c.slots[slot].capacityType, Price: float64(price) / nanoPerUSD}
	}
	out := make([]InstanceTypeOption, 0, len(best))
	for _, o := range best {
		out = append(out, o)
	}
	slices.SortFunc(out, func(a, b InstanceTypeOption) int {
		return cmp.Or(cmp.Compare(a.Price, b.Price), cmp.Compare(a.Name, b.Name))
	})
	return out
}

// cheapest is the variant's cheapest slot among those of both sets, the first of equals; -1 if there is none.
func (c *catalog) cheapest(variant int, a, b bitset) (slot int, price int64) {
	slot, price = -1, noPrice
	for s := range a.members {
		if b.has(s) && c.price(variant, s) < price {
			slot, price = s, c.price(variant, s)
		}
	}
	return slot, price
}

// rowOf is the row behind the first option of the list.
func (m *Model) rowOf(p *pool, name string, mc *machine, rows, slots bitset) int {
	t, c := p.table, p.table.catalog
	at, best := int(mc.row), int64(noPrice)
	for r := range rows.members {
		if c.types[c.variants[t.rows[r].variant].typ].Name != name || !fits(mc.used, t.allocOf(r, m.resources.len())) {
			continue
		}
		if _, price := c.cheapest(t.rows[r].variant, t.rows[r].slots, slots); price < best {
			at, best = r, price
		}
	}
	return at
}

// claimRequirements are the claim's, with the keys of offerings narrowed to the values that the remaining slots have.
func (m *Model) claimRequirements(c *catalog, claim requirements.Set, slots bitset) requirements.Set {
	for _, key := range []string{corev1.LabelTopologyZone, labelCapacityType} {
		var values []string
		for s := range slots.members {
			if v := onlyValue(c.slots[s].labels.Get(key)); v != "" && !slices.Contains(values, v) {
				values = append(values, v)
			}
		}
		if len(values) > 0 {
			claim = claim.With(requirements.In(key, values...))
		}
	}
	return claim
}
