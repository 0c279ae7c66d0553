package placing

import (
	"cmp"
	"slices"

	"github.com/drawknife/drawknife/api/requirements"
	"github.com/drawknife/drawknife/internal/engine/bitset"
	"github.com/drawknife/drawknife/internal/engine/market"
	"github.com/drawknife/drawknife/internal/engine/match"
	"github.com/drawknife/drawknife/internal/engine/model"
	"github.com/drawknife/drawknife/internal/engine/newnodes"
	"github.com/drawknife/drawknife/internal/engine/nodepool"
	"github.com/drawknife/drawknife/internal/engine/offers"
	"github.com/drawknife/drawknife/internal/engine/podclass"
	"github.com/drawknife/drawknife/internal/engine/resources"
	"github.com/drawknife/drawknife/internal/engine/state"
	"github.com/drawknife/drawknife/internal/engine/topology"
)

// decideAndJoin puts a pod of the class on a new node by deciding labels that the node's pods have left open. It does so only if the new
// nodes do not become more expensive.
func (t Growth) decideAndJoin(class int32) bool {
	m := t.M
	c := m.Classes[class]
	before, cost := t.Mark(), int64(-1)
	for _, st := range t.StagesFor(c) {
		for i := t.Fresh; i < len(t.S.Planned); i++ {
			mc := &t.S.Planned[i]
			host := int32(len(m.Nodes) + i)
			if mc.Empty() || !undecided(m, st, mc) || (t.AwaitsReservation(c) && mc.Reservation(m.Pools) == "") {
				continue
			}
			if cost < 0 {
				cost = newnodes.Of(t.Trial).NewCost()
			}
			if load := t.S.Placed.Load(host); len(load) > 0 && t.GrowTo(class, int32(i), st, load) && newnodes.Of(t.Trial).NewCost() <= cost {
				return true
			}
			t.Undo(before)
		}
	}
	return false
}

// undecided reports whether pods at the stage need a label that is not decided for the node.
func undecided(m *model.Model, stage int32, mc *state.Node) bool {
	as := nodepool.Assignment{Labels: mc.Labels}
	for _, u := range m.Stages[stage].Uses {
		if u.Pool == mc.Pool && !as.Decides(&m.Pools[u.Pool].Profiles[u.Profile]) {
			return true
		}
	}
	return false
}

// grow replaces a new node by a larger node of its pool that also takes a pod of the class. It is the last resort for pods that rules
// restrict to a node, or to a cell where no other node can be bought.
func (t Growth) grow(class int32) bool {
	m := t.M
	c := m.Classes[class]
	loads := t.S.Placed.Loads(0)
	for _, wishes := range []bool{true, false} {
		for i := range t.S.Planned {
			mc := &t.S.Planned[i]
			if mc.Empty() || i < t.Fresh || len(loads[i]) == 0 || !t.CouldAdmit(c, int32(i)) || (t.AwaitsReservation(c) && mc.Reservation(m.Pools) == "") {
				continue
			}
			if wishes && t.GrowAny(class, int32(i), loads[i]) || !wishes && t.GrowUnwished(class, int32(i)) {
				return true
			}
		}
	}
	return t.growElsewhere(class, loads) || t.growAsOther(class, loads)
}

// maxMoved is the number of new nodes that growElsewhere checks.
const maxMoved = 64

// growElsewhere replaces a new node by a node in another domain that also takes a pod of the class, if the new node's pods allow it. This
// is useful if limits allow no separate node for the pod.
func (t Growth) growElsewhere(class int32, loads [][]state.Binding) bool {
	if t.S.Topology == nil || t.M.Classes[class].Topology == nil {
		return false
	}
	looked := 0
	for i := t.Fresh; i < len(t.S.Planned) && looked < maxMoved; i++ {
		mc := &t.S.Planned[i]
		if mc.Empty() || len(loads[i]) == 0 || t.M.Pools[mc.Pool].Limits == nil {
			continue
		}
		looked++
		if slices.ContainsFunc(t.StagesFor(t.M.Classes[class]), func(st int32) bool { return t.MoveTo(class, int32(i), st, loads[i]) }) {
			return true
		}
	}
	return false
}

// MoveTo does the same as GrowTo, but the replacement of new node i may be in any domain that the pods on new node i allow. For each
// combination of domains that rules of the class distinguish, it tries the cheapest node; it tries cheaper nodes first.
func (t Growth) MoveTo(class, i, stage int32, load []state.Binding) bool {
	m := t.M
	c := m.Classes[class]
	mc := &t.S.Planned[i]
	p := m.Pools[mc.Pool]
	as := nodepool.Assignment{Labels: mc.Labels}
	if t.AwaitsReservation(c) && mc.Reservation(m.Pools) == "" {
		return false
	}
	host := int32(len(m.Nodes)) + i
	keys := newnodes.NoticedBy(m, []*topology.Groups{c.Topology}, true)
	other := *mc
	other.Used = slices.Clone(mc.Used)
	resources.AddScaled(other.Used, t.S.Volumes.NeedOn(c, host), 1)
	var found []state.Node
	for _, u := range m.Stages[stage].Uses {
		if u.Pool != mc.Pool || !as.Allows(&p.Profiles[u.Profile]) {
			continue
		}
		f := &p.Profiles[u.Profile]
		rows, slots, _ := newnodes.Of(t.Trial).FindAllowed(&other, load)
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
					text += m.Pools[mc.Pool].Label(row, slot, &as, key) + ","
				}
				if seen[text] {
					continue
				}
				seen[text] = true
				alikeRows, alikeSlots := rows.Clone(), slots.Clone()
				for _, key := range keys {
					newnodes.KeepLabel(m, &at, &as, key, alikeRows, alikeSlots)
				}
				found = append(found, t.exchangesFor(mc, &at, alikeRows, alikeSlots)...)
			}
		}
	}
	slices.SortStableFunc(found, func(a, b state.Node) int { return cmp.Compare(a.Price, b.Price) })
	return slices.ContainsFunc(found, func(at state.Node) bool {
		return t.growInto(i, at, state.Binding{Class: class, Host: host, Count: 1, Stage: stage, Tight: SpreadsOf(t.Trial).Tightly(class)}, load)
	})
}

// GrowAny calls GrowTo for the first of the class's stages that allows the node.
func (t Growth) GrowAny(class, i int32, load []state.Binding) bool {
	return slices.ContainsFunc(t.StagesFor(t.M.Classes[class]), func(st int32) bool { return t.GrowTo(class, i, st, load) })
}

// GrowUnwished does the same as GrowAny, but first moves the node's pods to the last of their stages that allows the node. So the
// preferences of these pods do not prevent another pod from being placed.
func (t Growth) GrowUnwished(class, i int32) bool {
	m := t.M
	mc := &t.S.Planned[i]
	as := nodepool.Assignment{Labels: mc.Labels}
	before, host := t.Mark(), int32(len(m.Nodes))+i
	for n := range t.S.Placed.All {
		b := &t.S.Placed.All[n]
		if b.Host != host || b.Count == 0 {
			continue
		}
		for _, st := range slices.Backward(t.StagesFor(m.Classes[b.Class])) {
			if offers.Allows(&m.Stages[st], m.Pools, mc.Pool, int(mc.Row), int(mc.Slot), &as) {
				if st != b.Stage {
					t.S.Restage(int32(n), st)
				}
				break
			}
		}
	}
	if t.S.Log.ChangedSince(before.At) && t.GrowAny(class, i, t.S.Placed.Load(host)) {
		return true
	}
	t.Undo(before)
	return false
}

// CouldAdmit reports whether rules admit a pod of the class to new node i, or might admit it once open labels are decided.
func (t Growth) CouldAdmit(c *podclass.Class, i int32) bool {
	return t.S.Admits(c, int32(len(t.M.Nodes))+i) ||
		slices.ContainsFunc(t.StagesFor(c), func(st int32) bool { return undecided(t.M, st, &t.S.Planned[i]) })
}

// GrowTo replaces new node i by a node that also takes a pod of the class at the stage, if possible. It prefers nodes that the commitment
// of node i covers.
func (t Growth) GrowTo(class, i, stage int32, load []state.Binding) bool {
	commitment := t.S.Planned[i].Commitment
	strict := func(mc *state.Node, load []state.Binding) (rows, slots bitset.Set) {
		rows, slots, _ = newnodes.Of(t.Trial).FindAllowed(mc, load)
		return rows, slots
	}
	return t.growWithin(commitment, class, i, stage, load, strict) || (commitment != 0 && t.growWithin(0, class, i, stage, load, strict))
}

// allowing returns the rows and slots of the pool whose nodes can hold the load.
type allowing func(mc *state.Node, load []state.Binding) (rows, slots bitset.Set)

// growWithin does the same as GrowTo, but only with allowed nodes that the commitment covers. If commitment is 0, it uses all allowed
// nodes.
func (t Growth) growWithin(commitment, class, i, stage int32, load []state.Binding, allowed allowing) bool {
	m := t.M
	mc := &t.S.Planned[i]
	host := int32(len(m.Nodes)) + i
	other := *mc
	other.Commitment = commitment
	other.Used = slices.Clone(mc.Used)
	resources.AddScaled(other.Used, t.S.Volumes.NeedOn(m.Classes[class], host), 1)
	added := state.Binding{Class: class, Host: host, Count: 1, Stage: stage, Tight: SpreadsOf(t.Trial).Tightly(class)}
	with := append(slices.Clone(load), added)
	// In the call of allowed, the new pod has the stage of the node's first pods, because the current node may not meet the needs of the
	// pod's own stage. These needs are checked below.
	with[len(load)].Stage = load[0].Stage
	p := m.Pools[mc.Pool]
	for _, u := range m.Stages[stage].Uses {
		if u.Pool != mc.Pool {
			continue
		}
		f := &p.Profiles[u.Profile]
		for _, labels := range decisionsFor(m, mc, f) {
			as := nodepool.Assignment{Labels: labels}
			if !as.Allows(f) {
				continue
			}
			other.Row, other.Slot, other.Labels = mc.Row, mc.Slot, labels
			rows, slots := allowed(&other, with)
			rows.And(f.Rows)
			slots.And(f.Slots)
			// The current node's instance type may lack the label whose value was just decided. So keep only rows and slots that have it.
			for r := range labels.All {
				if _, stated := p.Table.Catalog.TypeKeys[r.Key()]; stated {
					p.Narrow(r, rows, slots)
				}
			}
			if slices.ContainsFunc(t.exchangesFor(mc, &other, rows, slots), func(at state.Node) bool { return t.growInto(i, at, added, load) }) {
				return true
			}
		}
	}
	return false
}

// growInto replaces new node i, which has the load, by the node other and places the pods of added on it. It changes nothing and returns
// false if rules or minValues forbid this.
func (t Growth) growInto(i int32, other state.Node, added state.Binding, load []state.Binding) bool {
	before := t.Mark()
	var domains []int32
	if t.S.Topology != nil {
		domains = t.S.Topology.Hosts[added.Host].Domains
	}
	t.S.Exchange(i, other)
	if !t.S.Admits(t.M.Classes[added.Class], added.Host) {
		t.Undo(before)
		return false
	}
	t.Add(added)
	if t.StillVaried(i, append(slices.Clone(load), added)) && !SpreadsOf(t.Trial).Disturbs(added.Host) && (domains == nil || !t.vacated(domains) || t.AllVaried()) {
		return true
	}
	t.Undo(before)
	return false
}

// decisionsFor returns values for the labels that the profile needs and that are still undecided. It returns values of the current node's
// type first, then values of any type of the pool.
func decisionsFor(m *model.Model, mc *state.Node, f *nodepool.Profile) []requirements.Set {
	p := m.Pools[mc.Pool]
	c := p.Table.Catalog
	it := c.Types[c.Variants[p.Table.Rows[mc.Row].Variant].Type]
	own := decideFor(m, p, mc.Labels, f, func(key string, wanted requirements.Requirement) requirements.Requirement {
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
	if other := decideFor(m, p, mc.Labels, f, p.Decide); !other.Equal(own) {
		return []requirements.Set{own, other}
	}
	return []requirements.Set{own}
}

// decideFor decides the labels that the profile needs and that are still undecided. Labels that affect rules are decided later, when the
// node is opened.
func decideFor(m *model.Model, p *nodepool.Pool, labels requirements.Set, f *nodepool.Profile, decide func(string, requirements.Requirement) requirements.Requirement) requirements.Set {
	for _, r := range f.Open {
		key := r.Key()
		if slices.Contains(m.TopologyKeys, key) || labels.Has(key) && (match.SingleValued(labels.Get(key)) || match.Ensures(labels, r)) {
			continue
		}
		wanted := p.Template.Get(key).Intersect(labels.Get(key))
		for _, o := range f.Open {
			if o.Key() == key {
				wanted = wanted.Intersect(o)
			}
		}
		// If the label had several possible values so far, the node's pods accept some of them. So the decided value must be one of the
		// accepted values.
		if r := decide(key, wanted); !labels.Has(key) || match.Meets(labels, r) {
			labels = labels.With(r)
		}
	}
	return labels
}

// StillVaried reports whether the possible types of new node i with the load meet its pool's minValues.
func (t Growth) StillVaried(i int32, load []state.Binding) bool {
	mc := &t.S.Planned[i]
	p := t.M.Pools[mc.Pool]
	if !t.StrictVariety(p) {
		return true
	}
	rows, slots, _ := newnodes.Of(t.Trial).FindAllowed(mc, load)
	return p.VariedFor(mc.Row, mc.Used, rows, slots)
}
