package scheduling

import (
	"fmt"
	"slices"
	"strings"

	"github.com/drawknife/drawknife/api/requirements"
)

// rule is what people take for one topology rule: a constraint that the pod states, the anti-affinity of pods that have
// a place already, or a host port.
type rule struct {
	kind groupKind
	// own rules are the pod's; else others state it.
	own    bool
	groups []int32
}

// rulesOf lists the hard rules that concern a pod with the stake. All its required pod affinity is one rule, since each
// term looks only at pods that match all of them.
func (m *Model) rulesOf(o *ownership) []rule {
	if o == nil {
		return nil
	}
	var out []rule
	affinity, ports := -1, map[string]int{}
	for _, g := range o.owns {
		group := &m.topology[g]
		switch {
		case !group.hard || group.kind == kindExclusive:
		case group.kind == kindAffinity && affinity >= 0:
			out[affinity].groups = append(out[affinity].groups, g)
		case group.kind == kindAffinity:
			affinity = len(out)
			fallthrough
		default:
			out = append(out, rule{kind: group.kind, own: true, groups: []int32{g}})
		}
	}
	for _, g := range o.in {
		group := &m.topology[g]
		switch {
		case group.kind == kindExclusive:
			// One port is as many groups as pods name addresses for it.
			port := group.key[:strings.LastIndexByte(group.key, '/')]
			at, ok := ports[port]
			if !ok {
				at = len(out)
				ports[port] = at
				out = append(out, rule{kind: kindExclusive, own: true})
			}
			out[at].groups = append(out[at].groups, g)
		case group.kind == kindAnti && group.hard && !contains(o.owns, g):
			out = append(out, rule{kind: kindAnti, groups: []int32{g}})
		}
	}
	return out
}

// without is the stake as if nobody stated the rule.
func (o *ownership) without(r *rule) *ownership {
	drop := func(list []int32) []int32 {
		return slices.DeleteFunc(slices.Clone(list), func(g int32) bool { return contains(r.groups, g) })
	}
	out := &ownership{owns: drop(o.owns), in: o.in}
	if r.kind == kindAnti || r.kind == kindExclusive {
		out.in = drop(o.in)
	}
	return out
}

// alone is the stake as if no other rule were stated.
func (o *ownership) alone(m *Model, r *rule) *ownership {
	out := &ownership{owns: slices.DeleteFunc(slices.Clone(o.owns), func(g int32) bool { return !contains(r.groups, g) })}
	for _, g := range o.in {
		// Spread and affinity count the pod itself; what does not belong to the rule and would refuse is left out.
		if kind := m.topology[g].kind; contains(r.groups, g) || (kind != kindAnti && kind != kindExclusive) {
			out.in = append(out.in, g)
		}
	}
	return out
}

// admits reports whether the rules allow the pod on the candidate; loosely for machines that could not be bought when
// the plan was made: see spreadsLoosely.
func (x *explainer) admits(q *question, cand *candidate, loosely bool) bool {
	if x.t.topology == nil {
		return true
	}
	loosely = loosely || x.loosely
	known := x.verdictOn(q, cand)
	if known != nil && *known != verdictOpen && !loosely {
		return *known == verdictAdmits
	}
	a := admission{q, ruleSite{x.cellOf(q, cand), q.p.table.rows[cand.row].resident, loosely || q.changed}}
	ok, met := x.admitted[a]
	if !met {
		ok = !x.bars(a.site.cell)
		if o := x.c.topology; ok && o != nil {
			x.on(q, cand, func(h *hostState) { ok = x.admitsAt(o, h.domains, h.of, a.site.loosely) })
		}
		x.admitted[a] = ok
	}
	if known != nil && !loosely {
		*known = verdictRefuses
		if ok {
			*known = verdictAdmits
		}
	}
	return ok
}

// bars reports whether a new machine in the cell would bring a domain that must not come.
func (x *explanations) bars(cell int32) bool {
	barred, known := x.barred[cell]
	if !known {
		barred = x.t.breaksSpread(x.cells.list[cell])
		x.barred[cell] = barred
	}
	return barred
}

// on makes the candidate a machine of the trial for a moment, with the DaemonSet pods that come with it.
func (x *explainer) on(q *question, cand *candidate, look func(*hostState)) {
	s := x.t.topology
	host := x.addMachine(q, cand)
	residents := q.p.table.rows[cand.row].residents
	for _, class := range residents {
		s.place(x.m.classes[class].topology, host, 1)
	}
	x.residents = int32(len(residents))
	look(&s.hosts[host])
	x.residents = 0
	for _, class := range residents {
		s.place(x.m.classes[class].topology, host, -1)
	}
	s.dropHost()
}

// addMachine adds the candidate to the trial's machines and returns its number. Its labels decide how rules see it; they are
// read once for all machines that rules can't tell apart.
func (x *explainer) addMachine(q *question, cand *candidate) int32 {
	s, at := x.t.topology, admission{q, ruleSite{cell: x.cellOf(q, cand), resident: q.p.table.rows[cand.row].resident}}
	if known, ok := x.hosts[at]; ok {
		s.hosts = append(s.hosts, known)
		s.notice(int32(len(s.hosts)-1), 1)
		return int32(len(s.hosts) - 1)
	}
	label := func(key string) string { return x.labelOn(q, cand, key) }
	if q.p == x.m.pools[q.at] {
		label = func(key string) string {
			return x.m.machineLabel(q.at, cand.row, cand.slot, &q.assigned[cand.assign], key)
		}
	}
	labels := map[string]string{}
	for key := range x.m.askedKeys {
		if value := label(key); value != "" {
			labels[key] = value
		}
	}
	known := x.m.withOpen(requirements.FromLabels(labels), q.p, cand.row, &q.assigned[cand.assign])
	host := s.addHost(label, known, q.p.taints)
	x.hosts[at] = s.hosts[host]
	return host
}

// verdictOn is what is known of the candidate by the way to buy it; nil where that does not decide.
func (x *explainer) verdictOn(q *question, cand *candidate) *verdict {
	if !q.plain || q.p.table.rows[cand.row].resident != 0 {
		return nil
	}
	slots := len(q.p.table.catalog.slots)
	if x.wayOf != q {
		x.wayOf, x.byWay = q, make([]verdict, slots*len(q.assigned))
	}
	return &x.byWay[cand.assign*slots+cand.slot]
}

// admitsAt reports whether a pod with the stake may go on a machine in the domains with the counts.
func (x *explainer) admitsAt(o *ownership, domains []int32, of func(group int32) tally, loosely bool) bool {
	if loosely {
		if !x.spreadsLoosely(o, domains) {
			return false
		}
		o = o.withoutWideSpreads(x.m)
	}
	state := x.t.topology
	return admitsHost(x.m, o, of) > 0 && state.admitsDomains(o, x.c.shape, domains) && state.admitsAffinity(o, domains, of)
}

// spreadsLoosely checks spread rules over domains larger than a machine for a pod whose demands are not the plan's: which
// machines count may change with them, so that every member counts and the emptiest domain is taken to be empty. What
// passes is allowed whatever counts.
func (x *explainer) spreadsLoosely(o *ownership, domains []int32) bool {
	for _, g := range o.owns {
		group := &x.m.topology[g]
		if group.at == hostnameKey || !group.hard || group.kind != kindSpread {
			continue
		}
		d := domains[group.at]
		if d == noDomain || countAt(x.membersOf(g), d)+x.residents+1 > group.maxSkew {
			return false
		}
	}
	return true
}

func (o *ownership) withoutWideSpreads(m *Model) *ownership {
	return &ownership{in: o.in, owns: slices.DeleteFunc(slices.Clone(o.owns), func(g int32) bool {
		return m.topology[g].kind == kindSpread && m.topology[g].at != hostnameKey
	})}
}

// membersOf are the group's members by domain, on whatever machine they are.
func (x *explainer) membersOf(g int32) []int32 {
	if known, ok := x.everyone[g]; ok {
		return known
	}
	t, m := x.t, x.m
	var out []int32
	at := m.topology[g].at
	note := func(class, host, n int32) {
		o := m.classes[class].topology
		if d := t.topology.hosts[host].domains[at]; o != nil && d != noDomain && contains(o.in, g) {
			out = bump(out, d, n)
		}
	}
	for i := range m.nodes {
		if t.topology.hosts[i].gone {
			continue
		}
		for _, class := range m.podsOn(int32(i)) {
			note(class, int32(i), 1)
		}
	}
	for _, b := range t.placed {
		note(b.class, b.host, b.count)
	}
	for i := range t.machines {
		mc := &t.machines[i]
		for _, class := range m.pools[mc.pool].table.rows[mc.row].residents {
			note(class, int32(len(m.nodes)+i), 1)
		}
	}
	x.everyone[g] = out
	return out
}

// podsOn are the classes of the pods that a machine of the snapshot has, and of the DaemonSet pods that it will have.
func (m *Model) podsOn(node int32) []int32 {
	n := &m.nodes[node]
	var out []int32
	for _, p := range n.bound {
		out = append(out, p.class)
	}
	for _, d := range m.missingDaemons(n) {
		out = append(out, m.daemonSets[d].class)
	}
	return out
}

// skewNeeded is the maxSkew with which a spread rule would allow the pod in the domains; 0 where none would.
func (x *explainer) skewNeeded(r *rule, domains []int32, of func(group int32) tally) int32 {
	g := r.groups[0]
	group := &x.m.topology[g]
	if group.at == hostnameKey {
		n := of(g).members
		if contains(x.c.topology.in, g) {
			n++
		}
		return n
	}
	if domains[group.at] == noDomain {
		return 0
	}
	return x.t.topology.skewAfter(x.c.topology, g, x.c.shape, domains[group.at])
}

// words say the rule.
func (x *explainer) words(r *rule) string {
	m := x.m
	group := &m.topology[r.groups[0]]
	who := group.who()
	switch r.kind {
	case kindSpread:
		text := fmt.Sprintf("topology spread by %s with maxSkew %d", group.key, group.maxSkew)
		if group.minDomains > 1 {
			text += fmt.Sprintf(" and minDomains %d", group.minDomains)
		}
		return text + " of " + who
	case kindAnti:
		if group.disk != "" {
			return group.disk + ", which a pod on the node uses"
		}
		if r.own {
			return fmt.Sprintf("pod anti-affinity by %s to %s", group.key, who)
		}
		return fmt.Sprintf("pod anti-affinity by %s of pods that have a place to %s", group.key, who)
	case kindAffinity:
		var keys []string
		none := true
		for _, g := range r.groups {
			keys = append(keys, m.topology[g].key)
			none = none && x.t.topology.total[g] == 0
		}
		text := fmt.Sprintf("pod affinity by %s to %s", strings.Join(keys, " and "), who)
		if none {
			return text + ", of which none has a place yet"
		}
		return text + ", which have their places elsewhere"
	}
	if r.kind == kindTogether {
		return "the volume of claim " + group.claim.Handle + ", which it shares with pods that have their places elsewhere"
	}
	return portWords + group.key[:strings.LastIndexByte(group.key, '/')] + takenWords
}

// What words of host ports begin and end with.
const portWords, takenWords = "host port ", ", which is taken"

// newDomainRule says why a machine can't be bought where no other is.
const newDomainRule = "topology spread of pods that have a place, which does not reckon with a node in another domain"

// who says which pods the group counts.
func (g *topologyGroup) who() string {
	var parts []string
	for _, s := range g.selectors {
		text := s.String()
		switch {
		case s.Empty():
			continue
		case text == "":
			return "no pod"
		case !slices.Contains(parts, text):
			parts = append(parts, text)
		}
	}
	out := "all pods"
	if len(parts) > 0 {
		out = "pods that match " + strings.Join(parts, ",")
	}
	switch len(g.namespaces) {
	case 0:
		return "no pod"
	case 1:
		return out + " in namespace " + g.namespaces[0]
	}
	return out + " in namespaces " + strings.Join(g.namespaces, ", ")
}
