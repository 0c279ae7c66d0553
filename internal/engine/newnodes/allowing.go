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

// FindAllowed is which nodes of the pool would do for the node's pods, and what its claim says. Where topology rules
// have taken notice of what is on the node, only nodes of the same domains, with the same DaemonSets and the same
// labels that these rules look at, would do.
func (t NewNodes) FindAllowed(mc *state.Node, loads []state.Binding) (rows, slots bitset.Set, claim requirements.Set) {
	rows, slots, claim = t.narrowed(mc, loads, false)
	// The planned node itself would do, whatever the labels that are not decided yet.
	rows.Add(int(mc.Row))
	slots.Add(int(mc.Slot))
	return rows, slots, claim
}

// Wider is that for a caller that exchanges the node for one of them, and looks at what that does to spreads: rules that may be
// broken don't stand in the way, nor do spreads of other pods that pass over it, or do not any more, unless they count the node's pods
// and such a pod of theirs was placed.
func (t NewNodes) Wider(mc *state.Node, loads []state.Binding) (rows, slots bitset.Set) {
	rows, slots, _ = t.narrowed(mc, loads, true)
	return rows, slots
}

// narrowed is either for a node that need not be among them.
func (t NewNodes) narrowed(mc *state.Node, loads []state.Binding, wider bool) (rows, slots bitset.Set, claim requirements.Set) {
	m := t.M
	p := m.Pools[mc.Pool]
	rows, slots = p.Rows.Clone(), p.Slots.Clone()
	claim = p.Template.Merge(mc.Labels)
	var stakes []*topology.Groups
	var seen []int32
	for _, b := range loads {
		if o := m.Classes[b.Class].Topology; o != nil && !slices.Contains(stakes, o) {
			stakes = append(stakes, o)
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
		t.keepNoticed(mc, rows, slots, t.boundBy(t.withResidents(mc, stakes)), true)
		return rows, slots, claim
	}
	claim = claim.Merge(t.KeepAlike(mc, rows, slots, stakes))
	decided := stayOut(m, mc, claim)
	if len(p.Variety) == 0 {
		for r := range decided.All {
			p.Narrow(r, rows, slots)
		}
	}
	return rows, slots, claim.Merge(decided)
}

// KeepAlike narrows the nodes that would do for the pods of mc to those that may stand in for it: with its labels,
// of its reservation or of none, and where rules could take notice of pods with the stakes, in the same domains. It returns
// the labels that say so. Where that leaves less variety than the pool asks for, pods' wishes don't stand in the way.
func (t NewNodes) KeepAlike(mc *state.Node, rows, slots bitset.Set, stakes []*topology.Groups) (claim requirements.Set) {
	m := t.M
	p := m.Pools[mc.Pool]
	groups := t.withResidents(mc, stakes)
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

// withResidents adds the groups of the DaemonSet pods on the node.
func (t NewNodes) withResidents(mc *state.Node, groups []*topology.Groups) []*topology.Groups {
	for _, class := range t.M.Pools[mc.Pool].Table.Rows[mc.Row].Residents {
		groups = append(groups, t.M.Classes[class].Topology)
	}
	return groups
}

// keepNoticed is KeepAlike, or what Wider has instead, for the given labels by which rules take notice of the node's pods.
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
		// A node counted against a reservation must be bought from it.
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
				rows.Remove(r) // DaemonSet pods that rules notice must not turn up where the plan has none, nor be missing
			}
		}
	}
	claim = claim.Merge(keepBound(m, mc, rows, slots))
	keepCovered(m, mc, rows, slots)
	p.Table.KeepProduct(mc.Slot, slots)
	return claim
}

// keepBound has the node keep its labels that decide attributes of devices that pods ask about. KeepProduct sees to zone and capacity type.
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

// NoticedBy are the labels by which rules that pods of these groups state, or that count them, tell nodes apart. Rules
// that may be broken are left out unless wishes are asked for too.
func NoticedBy(m *model.Model, groups []*topology.Groups, wishes bool) []string {
	return labelsOf(m, groups, func(g int32, _ bool) bool { return wishes || m.Topology[g].Hard })
}

// boundBy are the labels by which rules that must be kept tell nodes apart, but for spreads of other pods of which none was placed:
// nothing depends on which pods those count.
func (t NewNodes) boundBy(groups []*topology.Groups) []string {
	return labelsOf(t.M, groups, func(g int32, owned bool) bool {
		group := &t.M.Topology[g]
		return group.Hard && (owned || group.Kind != topology.Spread || slices.ContainsFunc(t.S.Placed, func(b state.Binding) bool {
			o := t.M.Classes[b.Class].Topology
			return b.Count > 0 && o != nil && topology.Contains(o.Owns, g)
		}))
	})
}

// labelsOf are the labels of those rules that count; the function is told whether the pods state the rule themselves.
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

// stayKnown narrows rows and slots of a node so that rules which don't concern its pods go on as they do: it can't bring
// a domain that spreads of the plan don't reckon with. Where the node is planned and where others are already, it may be.
// It returns the labels that say so. Those pinned are decided. With wider, which spreads pass it over may change.
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
			// Spreads that pass over nodes without it would take notice of one that has it.
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

// filteredBy are the labels by which spreads that must be kept pass the node over: were one of them another, it could
// be an empty domain of theirs. So are those by which spreads that ask for several domains take notice of it.
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

// barred reports whether no node in place of the planned one could meet the term, whatever its type and offering: it asks for a
// label that these don't state, and the pool's nodes lack it or have another value.
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

// stayOut decides labels that pool or instance type leave open, so that spreads which pass the node over because of them
// go on doing so: of the values that the claim allows the first that none of their filters asks for.
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

// takesNotice reports whether a spread that must be kept passes over a node with the first labels and not with the
// second.
func takesNotice(m *model.Model, before, after requirements.Set) bool {
	return slices.ContainsFunc(m.Topology, func(g topology.Group) bool {
		return g.Kind == topology.Spread && g.Hard && g.Filter.Terms != nil && !match.AnySureBy(g.Filter.Terms, before) && match.AnySureBy(g.Filter.Terms, after)
	})
}

// KeepLabel narrows rows and slots to the nodes that have the planned one's value of the label, or lack it if that
// does, and returns the label. Where the planned one's type leaves the value open, those are kept that the same spreads pass
// over, and nothing is returned. Pools that ask for variety can't spare the others.
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

// spreadBy reports whether any spread that must be kept is over the topology key.
func spreadBy(m *model.Model, at int) bool {
	return slices.ContainsFunc(m.Topology, func(g topology.Group) bool { return g.Kind == topology.Spread && g.Hard && g.At == at })
}

// knownEverywhere reports whether all such spreads have nodes in the domain.
func (t NewNodes) knownEverywhere(at int, d int32) bool {
	for g := range t.M.Topology {
		group := &t.M.Topology[g]
		if group.Kind == topology.Spread && group.Hard && group.At == at && (group.MinDomains > 1 || topology.CountAt(t.S.Topology.Present[g], d) == 0) {
			return false
		}
	}
	return true
}
