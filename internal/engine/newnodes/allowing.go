package newnodes

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/internal/engine/bitset"
	"github.com/drawknife/drawknife/internal/engine/match"
	"github.com/drawknife/drawknife/internal/engine/model"
	"github.com/drawknife/drawknife/internal/engine/nodepool"
	"github.com/drawknife/drawknife/internal/engine/state"
	"github.com/drawknife/drawknife/internal/engine/topology"
)

// FindAllowed returns the nodes of the pool that could hold the node's pods, and the requirements of its NodeClaim. If topology rules
// depend on the pods of the node, allowed nodes must be in the same domains, and have the same DaemonSets and the same values of labels
// that these rules use.
func (t NewNodes) FindAllowed(mc *state.Node, loads []state.Binding) (rows, slots bitset.Set, claim requirements.Set) {
	rows, slots, claim = t.narrowed(mc, loads, false)
	// The planned node itself is allowed, whatever values its open labels get.
	rows.Add(int(mc.Row))
	slots.Add(int(mc.Slot))
	return rows, slots, claim
}

// Wider is like FindAllowed, for a caller that replaces the node by one of the results and then checks the spreads again. It ignores soft
// rules. It also ignores spreads of other pods that do not count the node now, or would not count its replacement. But it respects such a
// spread if the spread counts the node's pods and a pod that states the spread was placed.
func (t NewNodes) Wider(mc *state.Node, loads []state.Binding) (rows, slots bitset.Set) {
	rows, slots, _ = t.narrowed(mc, loads, true)
	return rows, slots
}

// narrowed does the work of FindAllowed and Wider, but its result may exclude the planned node itself.
func (t NewNodes) narrowed(mc *state.Node, loads []state.Binding, wider bool) (rows, slots bitset.Set, claim requirements.Set) {
	m := t.M
	p := m.Pools[mc.Pool]
	rows, slots = p.Rows.Clone(), p.Slots.Clone()
	claim = p.Template.Merge(mc.Labels)
	var ofClasses []*topology.Groups
	var seen []int32
	for _, b := range loads {
		if o := m.Classes[b.Class].Topology; o != nil && !slices.Contains(ofClasses, o) {
			ofClasses = append(ofClasses, o)
		}
		if slices.Contains(seen, b.Stage) {
			continue
		}
		seen = append(seen, b.Stage)
		f := profileFor(m, b.Stage, mc)
		rows.And(f.Rows)
		slots.And(f.Slots)
		claim = claim.Merge(f.Demand.Set())
	}
	if wider {
		t.keepNoticed(mc, rows, slots, t.boundBy(t.withResidents(mc, ofClasses)), true)
		return rows, slots, claim
	}
	claim = claim.Merge(t.KeepAlike(mc, rows, slots, ofClasses))
	decided := stayOut(m, mc, claim)
	if len(p.Variety) == 0 {
		for r := range decided.All {
			p.Narrow(r, rows, slots)
		}
	}
	return rows, slots, claim.Merge(decided)
}

// KeepAlike narrows rows and slots, which can hold the pods of mc, to the nodes that may replace mc. These nodes have the labels of mc, and
// use the reservation of mc or, if mc uses none, no reservation. If rules could depend on pods with these topology groups, they are also in
// the same domains. It returns label requirements that express this. If the remaining nodes don't meet the pool's minValues, preferences of
// pods are ignored.
func (t NewNodes) KeepAlike(mc *state.Node, rows, slots bitset.Set, ofClasses []*topology.Groups) (claim requirements.Set) {
	m := t.M
	p := m.Pools[mc.Pool]
	groups := t.withResidents(mc, ofClasses)
	all := NoticedBy(m, groups, true)
	if len(p.Variety) == 0 {
		return t.keepNoticed(mc, rows, slots, all, false)
	}
	hard := NoticedBy(m, groups, false)
	if len(hard) == len(all) {
		return t.keepNoticed(mc, rows, slots, all, false)
	}
	narrowRows, narrowSlots, wideRows, wideSlots := rows.Clone(), slots.Clone(), rows.Clone(), slots.Clone()
	claim = t.keepNoticed(mc, narrowRows, narrowSlots, all, false)
	if !p.VariedFor(mc.Row, mc.Used, narrowRows, narrowSlots) {
		wide := t.keepNoticed(mc, wideRows, wideSlots, hard, false)
		if p.VariedFor(mc.Row, mc.Used, wideRows, wideSlots) {
			narrowRows, narrowSlots, claim = wideRows, wideSlots, wide
		}
	}
	copy(rows, narrowRows)
	copy(slots, narrowSlots)
	return claim
}

// withResidents adds the topology groups of the DaemonSet pods on the node.
func (t NewNodes) withResidents(mc *state.Node, groups []*topology.Groups) []*topology.Groups {
	for _, class := range t.M.Pools[mc.Pool].Table.Rows[mc.Row].Residents {
		groups = append(groups, t.M.Classes[class].Topology)
	}
	return groups
}

// keepNoticed does the work of KeepAlike, and passes wider to stayKnown. pinned are the labels by which rules that concern the node's pods
// distinguish nodes.
func (t NewNodes) keepNoticed(mc *state.Node, rows, slots bitset.Set, pinned []string, wider bool) (claim requirements.Set) {
	m := t.M
	p := m.Pools[mc.Pool]
	c := p.Table.Catalog
	for r := range mc.Labels.All {
		if _, stated := c.TypeKeys[r.Key()]; stated {
			p.Narrow(r, rows, slots)
		}
	}
	if reserved := c.Slots[mc.Slot].Reservation; reserved != "" {
		// A node that uses a reservation must be bought from this reservation.
		for s := range slots.Members {
			if c.Slots[s].Reservation != reserved {
				slots.Remove(s)
			}
		}
		claim = c.Slots[mc.Slot].DrawsOn
	} else {
		for s := range slots.Members {
			if c.Slots[s].Reservation != "" {
				slots.Remove(s)
			}
		}
	}
	if t.S.Topology != nil {
		as := nodepool.Assignment{Labels: mc.Labels}
		for _, key := range pinned {
			claim = claim.Merge(KeepLabel(m, mc, &as, key, rows, slots))
		}
		claim = claim.Merge(t.stayKnown(mc, &as, pinned, rows, slots, wider))
		resident := p.Table.Rows[mc.Row].Resident
		for r := range rows.Members {
			if p.Table.Rows[r].Resident != resident {
				rows.Remove(r) // the row runs other DaemonSet pods that topology rules could see than the planned node
			}
		}
	}
	claim = claim.Merge(keepBound(m, mc, rows, slots))
	keepCovered(m, mc, rows, slots)
	p.Table.KeepProduct(mc.Slot, slots)
	return claim
}

// keepBound makes the node keep its labels that determine attributes of devices, if pods ask about these attributes. It leaves out zone and
// capacity type, because KeepProduct restricts these.
func keepBound(m *model.Model, mc *state.Node, rows, slots bitset.Set) (claim requirements.Set) {
	p := m.Pools[mc.Pool]
	if !p.Table.Split {
		return claim
	}
	as := nodepool.Assignment{Labels: mc.Labels}
	for _, key := range p.Table.Catalog.DeviceLabels {
		if key != corev1.LabelTopologyZone && key != v1.CapacityTypeLabelKey {
			claim = claim.Merge(KeepLabel(m, mc, &as, key, rows, slots))
		}
	}
	return claim
}

// NoticedBy returns the labels by which rules distinguish nodes: rules of pods in these groups, and rules that count these pods. Soft rules
// are included only if the parameter wishes is true.
func NoticedBy(m *model.Model, groups []*topology.Groups, wishes bool) []string {
	return labelsOf(m, groups, func(g int32, _ bool) bool { return wishes || m.Topology[g].Hard })
}

// boundBy returns the labels by which hard rules that concern the groups distinguish nodes. It leaves out a spread of other pods if no pod
// that states the spread was placed, because then no placement depends on the counts of this spread.
func (t NewNodes) boundBy(groups []*topology.Groups) []string {
	return labelsOf(t.M, groups, func(g int32, owned bool) bool {
		group := &t.M.Topology[g]
		return group.Hard && (owned || group.Kind != topology.Spread || slices.ContainsFunc(t.S.Placed.All, func(b state.Binding) bool {
			o := t.M.Classes[b.Class].Topology
			return b.Count > 0 && o != nil && topology.Contains(o.Owns, g)
		}))
	})
}

// labelsOf returns the labels of each rule g for which counts(g, owned) is true. The argument owned is true if the pods state the rule
// themselves.
func labelsOf(m *model.Model, groups []*topology.Groups, counts func(g int32, owned bool) bool) []string {
	var keys []string
	for _, o := range groups {
		for n, list := range [][]int32{o.Owns, o.In} {
			for _, g := range list {
				if !counts(g, n == 0) {
					continue
				}
				for _, key := range m.Topology[g].Labels {
					if !slices.Contains(keys, key) {
						keys = append(keys, key)
					}
				}
			}
		}
	}
	return keys
}

// stayKnown narrows rows and slots of a node so that rules about other pods stay met: the node adds no domain that spreads of the plan have
// not counted. It allows the domains of the planned node, and domains that already have nodes counted by these spreads. It returns label
// requirements that express this restriction. The labels in pinned are already decided. If wider is set, the set of spreads that ignore the
// node may change.
func (t NewNodes) stayKnown(mc *state.Node, as *nodepool.Assignment, pinned []string, rows, slots bitset.Set, wider bool) requirements.Set {
	m := t.M
	p := m.Pools[mc.Pool]
	c := p.Table.Catalog
	var kept requirements.Set
	for at, key := range m.TopologyKeys {
		_, stated := c.TypeKeys[key]
		if (!stated && !c.OfferingKeys[key]) || slices.Contains(pinned, key) || !spreadBy(m, at) {
			continue
		}
		v := m.Pools[mc.Pool].Label(int(mc.Row), int(mc.Slot), as, key)
		if v == "" {
			// The planned node lacks the label, so some spread constraints ignore it. They would count a node that has the label, so such a
			// node is excluded.
			kept = kept.Merge(KeepLabel(m, mc, as, key, rows, slots))
			continue
		}
		values := []string{v}
		for other, d := range t.S.Topology.Domains[at] {
			if other != v && t.knownEverywhere(at, d) {
				values = append(values, other)
			}
		}
		r := requirements.In(key, values...)
		p.Narrow(r, rows, slots)
		kept = kept.With(r)
	}
	if wider {
		return kept
	}
	for _, key := range filteredBy(m, mc, as) {
		if !slices.Contains(pinned, key) {
			kept = kept.Merge(KeepLabel(m, mc, as, key, rows, slots))
		}
	}
	return kept
}

// filteredBy returns the labels because of which hard spreads ignore the node. With another value of such a label, the node could add an
// empty domain that these spreads count. It also returns the labels because of which spreads with minDomains count the node.
func filteredBy(m *model.Model, mc *state.Node, as *nodepool.Assignment) []string {
	var keys []string
	var labels *requirements.Set
	for g := range m.Topology {
		group := &m.Topology[g]
		if group.Kind != topology.Spread || !group.Hard || group.Filter.Terms == nil {
			continue
		}
		if labels == nil {
			all := state.KnownLabels(m.Pools, m.AskedKeys, mc, as)
			labels = &all
		}
		if group.MinDomains <= 1 && match.AnySureBy(group.Filter.Terms, *labels) {
			continue
		}
		for _, term := range group.Filter.Terms {
			if barred(m, mc, term, *labels) {
				continue
			}
			for _, r := range term {
				keys = append(keys, r.Key())
			}
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// barred reports whether no node in place of the planned one could meet the term, whatever its type and offering are. This is so if the
// term requires a label that types and offerings don't state, and the pool's nodes lack it or have another value.
func barred(m *model.Model, mc *state.Node, term match.Needs, labels requirements.Set) bool {
	c := m.Pools[mc.Pool].Table.Catalog
	return slices.ContainsFunc(term, func(r requirements.Requirement) bool {
		if _, stated := c.TypeKeys[r.Key()]; stated || c.OfferingKeys[r.Key()] {
			return false
		}
		if !labels.Has(r.Key()) {
			return !match.AbsentMeets(r)
		}
		value := match.OnlyValue(labels.Get(r.Key()))
		return value != "" && !r.Has(value)
	})
}

// stayOut decides labels that the pool or the instance type leaves open, if spreads ignore the node because of them. After the decision
// these spreads still ignore the node. Of the values that the claim allows, stayOut takes the first with which none of these spreads counts
// the node.
func stayOut(m *model.Model, mc *state.Node, claim requirements.Set) (decided requirements.Set) {
	as := nodepool.Assignment{Labels: mc.Labels}
	for _, key := range filteredBy(m, mc, &as) {
		open, byType := m.Pools[mc.Pool].OpenLabel(int(mc.Row), &as, key)
		byType = byType && len(m.Pools[mc.Pool].Variety) == 0
		if claim.Has(key) && byType {
			open = open.Intersect(claim.Get(key))
		} else if claim.Has(key) {
			open = claim.Get(key)
		} else if !byType {
			continue
		}
		if open.Complement() || len(open.Values()) < 2 || m.Pools[mc.Pool].Label(int(mc.Row), int(mc.Slot), &as, key) != "" {
			continue
		}
		labels := state.KnownLabels(m.Pools, m.AskedKeys, mc, &as).Merge(decided)
		for _, v := range open.Values() {
			if r := requirements.In(key, v); !takesNotice(m, labels, labels.With(r)) {
				decided = decided.With(r)
				break
			}
		}
	}
	return decided
}

// takesNotice reports whether a hard spread ignores a node with the labels before and counts a node with the labels after.
func takesNotice(m *model.Model, before, after requirements.Set) bool {
	return slices.ContainsFunc(m.Topology, func(g topology.Group) bool {
		return g.Kind == topology.Spread && g.Hard && g.Filter.Terms != nil && !match.AnySureBy(g.Filter.Terms, before) && match.AnySureBy(g.Filter.Terms, after)
	})
}

// KeepLabel narrows rows and slots to the nodes that have the same value of the label as the planned node, or lack the label if the planned
// node lacks it. It returns the label's requirement. If the type of the planned node leaves the value open, it keeps the nodes that the
// same spreads ignore, and returns no requirement. It does not narrow the nodes of pools with minValues, because these may need the other
// nodes.
func KeepLabel(m *model.Model, mc *state.Node, as *nodepool.Assignment, key string, rows, slots bitset.Set) (kept requirements.Set) {
	p := m.Pools[mc.Pool]
	c := p.Table.Catalog
	if _, stated := c.TypeKeys[key]; !stated && !c.OfferingKeys[key] {
		return kept
	}
	r := requirements.DoesNotExist(key)
	if v := m.Pools[mc.Pool].Label(int(mc.Row), int(mc.Slot), as, key); v != "" {
		r = requirements.In(key, v)
		kept = kept.With(r)
	} else if _, open := p.OpenLabel(int(mc.Row), as, key); open && len(p.Variety) == 0 {
		own := state.KnownLabels(m.Pools, m.AskedKeys, mc, as)
		for row := range rows.Members {
			at := *mc
			at.Row = int32(row)
			if other := state.KnownLabels(m.Pools, m.AskedKeys, &at, as); takesNotice(m, own, other) || takesNotice(m, other, own) {
				rows.Remove(row)
			}
		}
		return kept
	}
	p.Narrow(r, rows, slots)
	return kept
}

// spreadBy reports whether a hard spread uses the topology key with index at.
func spreadBy(m *model.Model, at int) bool {
	return slices.ContainsFunc(m.Topology, func(g topology.Group) bool { return g.Kind == topology.Spread && g.Hard && g.At == at })
}

// knownEverywhere reports whether all hard spreads over this topology key already have a node in the domain. For a spread with minDomains,
// it assumes that the domain has no node.
func (t NewNodes) knownEverywhere(at int, d int32) bool {
	for g := range t.M.Topology {
		group := &t.M.Topology[g]
		if group.Kind == topology.Spread && group.Hard && group.At == at && (group.MinDomains > 1 || topology.CountAt(t.S.Topology.Present[g], d) == 0) {
			return false
		}
	}
	return true
}
