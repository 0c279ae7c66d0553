package scheduling

import (
	"cmp"
	"slices"

	"github.com/drawknife/drawknife/api/requirements"
	"github.com/drawknife/drawknife/internal/engine/market"
	"github.com/drawknife/drawknife/internal/engine/match"
	"github.com/drawknife/drawknife/internal/engine/nodepool"
	"github.com/drawknife/drawknife/internal/engine/offers"
	"github.com/drawknife/drawknife/internal/engine/podclass"
	"github.com/drawknife/drawknife/internal/engine/resources"
	"github.com/drawknife/drawknife/internal/engine/state"
	"github.com/drawknife/drawknife/internal/engine/topology"
)

// decideAndJoin puts a pod of the class on a new node that costs no more for it once labels are decided that its pods have
// left open so far.
func (t *Trial) decideAndJoin(class int32) bool {
	m := t.m
	c := m.c.Classes[class]
	before, cost := t.Mark(), int64(-1)
	for _, st := range t.stagesFor(c) {
		for i := t.fresh; i < len(t.s.Planned); i++ {
			mc := &t.s.Planned[i]
			host := int32(len(m.c.Nodes) + i)
			if mc.Empty() || !m.undecided(st, mc) || (t.awaitsReservation(c) && mc.Reservation(m.c.Pools) == "") {
				continue
			}
			if cost < 0 {
				cost = t.newCost()
			}
			if load := t.s.LoadOf(host); len(load) > 0 && t.growTo(class, int32(i), st, load) && t.newCost() <= cost {
				return true
			}
			t.undo(before)
		}
	}
	return false
}

// undecided reports whether pods at the stage ask about labels that are not decided for the node.
func (m *Model) undecided(stage int32, mc *state.Node) bool {
	as := nodepool.Assignment{Labels: mc.Labels}
	return slices.ContainsFunc(m.c.Stages[stage].Uses, func(u podclass.Use) bool {
		f := &m.c.Pools[u.Pool].Profiles[u.Profile]
		return u.Pool == mc.Pool && !as.Decides(f)
	})
}

// grow exchanges a new node for a larger one of its pool that takes a pod of the class as well: the last resort, for
// pods that rules bind to a node or a cell where nothing else can be bought.
func (t *Trial) grow(class int32) bool {
	m := t.m
	c := m.c.Classes[class]
	loads := t.s.Loads(0)
	for _, wishes := range []bool{true, false} {
		for i := range t.s.Planned {
			mc := &t.s.Planned[i]
			if mc.Empty() || i < t.fresh || len(loads[i]) == 0 || !t.couldAdmit(c, int32(i)) || (t.awaitsReservation(c) && mc.Reservation(m.c.Pools) == "") {
				continue
			}
			if wishes && t.growAny(class, int32(i), loads[i]) || !wishes && t.growUnwished(class, int32(i)) {
				return true
			}
		}
	}
	return t.growElsewhere(class, loads)
}

// maxMoved bounds how many new nodes are looked at for one that takes a pod in another domain.
const maxMoved = 64

// growElsewhere exchanges a new node for one in another domain that takes a pod of the class as well. Its own pods must not
// mind. That matters where limits allow no node for the pod in addition to it.
func (t *Trial) growElsewhere(class int32, loads [][]state.Binding) bool {
	if t.s.Topology == nil || t.m.c.Classes[class].Topology == nil {
		return false
	}
	looked := 0
	for i := t.fresh; i < len(t.s.Planned) && looked < maxMoved; i++ {
		mc := &t.s.Planned[i]
		if mc.Empty() || len(loads[i]) == 0 || t.m.c.Pools[mc.Pool].Limits == nil {
			continue
		}
		looked++
		if slices.ContainsFunc(t.stagesFor(t.m.c.Classes[class]), func(st int32) bool { return t.moveTo(class, int32(i), st, loads[i]) }) {
			return true
		}
	}
	return false
}

// moveTo is growTo for nodes in the domains that its pods leave open, the cheapest of each combination that rules of the
// class tell apart, by price.
func (t *Trial) moveTo(class, i, stage int32, load []state.Binding) bool {
	m := t.m
	c := m.c.Classes[class]
	mc := &t.s.Planned[i]
	p := m.c.Pools[mc.Pool]
	as := nodepool.Assignment{Labels: mc.Labels}
	if t.awaitsReservation(c) && mc.Reservation(m.c.Pools) == "" {
		return false
	}
	host := int32(len(m.c.Nodes)) + i
	keys := m.noticedBy([]*topology.Groups{c.Topology}, true)
	other := *mc
	other.Used = slices.Clone(mc.Used)
	resources.AddScaled(other.Used, t.s.Volumes.NeedOn(c, host), 1)
	var found []state.Node
	for _, u := range m.c.Stages[stage].Uses {
		if u.Pool != mc.Pool || !as.Allows(&p.Profiles[u.Profile]) {
			continue
		}
		f := &p.Profiles[u.Profile]
		rows, slots, _ := t.leeway(&other, load)
		rows.And(f.Rows)
		slots.And(f.Slots)
		seen := map[string]bool{}
		for row := range rows.Members {
			for slot := range slots.Members {
				at := other
				at.Row, at.Slot = int32(row), int32(slot)
				if p.Table.Catalog.Price(p.Table.Rows[row].Variant, slot) == market.NoPrice || !p.Table.Rows[row].Slots.Has(slot) {
					continue
				}
				text := ""
				for _, key := range keys {
					text += m.c.Pools[mc.Pool].Label(row, slot, &as, key) + ","
				}
				if seen[text] {
					continue
				}
				seen[text] = true
				alikeRows, alikeSlots := rows.Clone(), slots.Clone()
				for _, key := range keys {
					m.keepLabel(&at, &as, key, alikeRows, alikeSlots)
				}
				if at.Row, at.Slot, at.Price = m.c.Pools[at.Pool].CheapestWithin(at.Used, alikeRows, alikeSlots, t.s.Limits.Spare(mc)); at.Row >= 0 && offers.Reservation(m.c.Pools, mc.Pool, at.Slot) == mc.Reservation(m.c.Pools) {
					found = append(found, at)
				}
			}
		}
	}
	slices.SortStableFunc(found, func(a, b state.Node) int { return cmp.Compare(a.Price, b.Price) })
	return slices.ContainsFunc(found, func(at state.Node) bool {
		return t.growInto(i, at, state.Binding{Class: class, Host: host, Count: 1, Stage: stage, Tight: t.tightly(class)}, load)
	})
}

// growAny is growTo at the first of the class's stages that allows it.
func (t *Trial) growAny(class, i int32, load []state.Binding) bool {
	return slices.ContainsFunc(t.stagesFor(t.m.c.Classes[class]), func(st int32) bool { return t.growTo(class, i, st, load) })
}

// growUnwished is growAny for a node whose pods give up wishes that bind them to nodes like it: a wish costs no other
// pod its place.
func (t *Trial) growUnwished(class, i int32) bool {
	m := t.m
	mc := &t.s.Planned[i]
	as := nodepool.Assignment{Labels: mc.Labels}
	before, host := t.Mark(), int32(len(m.c.Nodes))+i
	for n := range t.s.Placed {
		b := &t.s.Placed[n]
		if b.Host != host || b.Count == 0 {
			continue
		}
		for _, st := range slices.Backward(t.stagesFor(m.c.Classes[b.Class])) {
			if offers.Allows(&m.c.Stages[st], m.c.Pools, mc.Pool, int(mc.Row), int(mc.Slot), &as) {
				if st != b.Stage {
					t.s.Restage(int32(n), st)
				}
				break
			}
		}
	}
	if t.s.Log.ChangedSince(before.at) && t.growAny(class, i, t.s.LoadOf(host)) {
		return true
	}
	t.undo(before)
	return false
}

// couldAdmit reports whether rules admit a pod of the class on new node i, or might once labels are decided that they look
// at.
func (t *Trial) couldAdmit(c *podclass.Class, i int32) bool {
	return t.s.Admits(c, int32(len(t.m.c.Nodes))+i) ||
		slices.ContainsFunc(t.stagesFor(c), func(st int32) bool { return t.m.undecided(st, &t.s.Planned[i]) })
}

// growTo exchanges new node i for one that takes a pod of the class at the stage as well, if there is one: for one that
// its commitment covers as well rather than for another.
func (t *Trial) growTo(class, i, stage int32, load []state.Binding) bool {
	commitment := t.s.Planned[i].Commitment
	return t.growWithin(commitment, class, i, stage, load) || (commitment != 0 && t.growWithin(0, class, i, stage, load))
}

// growWithin is growTo for nodes that the commitment covers; 0 for all.
func (t *Trial) growWithin(commitment, class, i, stage int32, load []state.Binding) bool {
	m := t.m
	mc := &t.s.Planned[i]
	host := int32(len(m.c.Nodes)) + i
	other := *mc
	other.Commitment = commitment
	other.Used = slices.Clone(mc.Used)
	resources.AddScaled(other.Used, t.s.Volumes.NeedOn(m.c.Classes[class], host), 1)
	added := state.Binding{Class: class, Host: host, Count: 1, Stage: stage, Tight: t.tightly(class)}
	with := append(slices.Clone(load), added)
	// What the new pod asks for is looked at below, since the node as it is may not meet it.
	with[len(load)].Stage = load[0].Stage
	p := m.c.Pools[mc.Pool]
	for _, u := range m.c.Stages[stage].Uses {
		if u.Pool != mc.Pool {
			continue
		}
		f := &p.Profiles[u.Profile]
		for _, labels := range m.decisionsFor(mc, f) {
			as := nodepool.Assignment{Labels: labels}
			if !as.Allows(f) {
				continue
			}
			other.Row, other.Slot, other.Labels = mc.Row, mc.Slot, labels
			rows, slots, _ := t.leeway(&other, with)
			rows.And(f.Rows)
			slots.And(f.Slots)
			// The node as it is may be of a type that does not carry what has just been decided.
			for r := range labels.All {
				if _, stated := p.Table.Catalog.TypeKeys[r.Key()]; stated {
					p.Narrow(r, rows, slots)
				}
			}
			row, slot, price := m.c.Pools[other.Pool].CheapestWithin(other.Used, rows, slots, t.s.Limits.Spare(mc))
			if row < 0 || offers.Reservation(m.c.Pools, mc.Pool, slot) != mc.Reservation(m.c.Pools) {
				continue
			}
			other.Row, other.Slot, other.Price = row, slot, price
			if t.growInto(i, other, added, load) {
				return true
			}
		}
	}
	return false
}

// growInto exchanges new node i, which has the load, for the other and adds pods to it, if that is allowed.
func (t *Trial) growInto(i int32, other state.Node, added state.Binding, load []state.Binding) bool {
	before := t.Mark()
	var domains []int32
	if t.s.Topology != nil {
		domains = t.s.Topology.Hosts[added.Host].Domains
	}
	t.s.Exchange(i, other)
	if !t.s.Admits(t.m.c.Classes[added.Class], added.Host) {
		t.undo(before)
		return false
	}
	t.place(added)
	if t.stillVaried(i, append(slices.Clone(load), added)) && !t.disturbs(added.Host) && (domains == nil || !t.vacated(domains) || t.allVaried()) {
		return true
	}
	t.undo(before)
	return false
}

// decisionsFor are ways to decide the labels that the profile asks about and nobody has cared about yet: first as the type of
// the node as it is can carry them, then as any type of the pool can.
func (m *Model) decisionsFor(mc *state.Node, f *nodepool.Profile) []requirements.Set {
	p := m.c.Pools[mc.Pool]
	c := p.Table.Catalog
	it := c.Types[c.Variants[p.Table.Rows[mc.Row].Variant].Type]
	own := m.decideFor(p, mc.Labels, f, func(key string, wanted requirements.Requirement) requirements.Requirement {
		if _, byTypes := c.TypeKeys[key]; !byTypes {
			return p.Decide(key, wanted)
		}
		if it.Requirements.Has(key) {
			if v, ok := wanted.Intersect(it.Requirements.Get(key)).AnyValue(); ok {
				return requirements.In(key, v)
			}
		}
		return requirements.DoesNotExist(key)
	})
	if other := m.decideFor(p, mc.Labels, f, p.Decide); !other.Equal(own) {
		return []requirements.Set{own, other}
	}
	return []requirements.Set{own}
}

// decideFor adds to the labels decided for a node those that the profile asks for and nobody has cared about yet. Labels
// that rules can notice are decided when the node is opened.
func (m *Model) decideFor(p *nodepool.Pool, labels requirements.Set, f *nodepool.Profile, decide func(string, requirements.Requirement) requirements.Requirement) requirements.Set {
	for _, r := range f.Open {
		key := r.Key()
		if slices.Contains(m.c.TopologyKeys, key) || labels.Has(key) && (match.SingleValued(labels.Get(key)) || match.Ensures(labels, r)) {
			continue
		}
		wanted := p.Template.Get(key).Intersect(labels.Get(key))
		for _, o := range f.Open {
			if o.Key() == key {
				wanted = wanted.Intersect(o)
			}
		}
		// What is left open meets the needs of the pods that are there, and the decision must.
		if r := decide(key, wanted); !labels.Has(key) || match.Meets(labels, r) {
			labels = labels.With(r)
		}
	}
	return labels
}

// stillVaried reports whether the types that would do for new node i with the load are as varied as its pool's
// minValues ask for.
func (t *Trial) stillVaried(i int32, load []state.Binding) bool {
	mc := &t.s.Planned[i]
	p := t.m.c.Pools[mc.Pool]
	if !t.strictVariety(p) {
		return true
	}
	rows, slots, _ := t.leeway(mc, load)
	return p.VariedFor(mc.Row, mc.Used, rows, slots)
}
