package explain

import (
	"fmt"
	"slices"
	"strings"

	"github.com/drawknife/drawknife/api/requirements"
	"github.com/drawknife/drawknife/internal/engine/model"
	"github.com/drawknife/drawknife/internal/engine/placing"
	"github.com/drawknife/drawknife/internal/engine/topology"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// rule is one topology rule as users state it. It is a constraint of the pod, the anti-affinity of placed pods, or a host port.
type rule struct {
	kind topology.Kind
	// The field own is true if the pod itself states the rule, and false if other pods state the rule.
	own    bool
	groups []int32
}

// rulesOf lists the hard rules for a pod with these topology groups. All required pod affinity of the pod is one rule, because each term
// selects only pods that match all terms.
func rulesOf(m *model.Model, o *topology.Groups) []rule {
	if o == nil {
		return nil
	}
	var out []rule
	affinity, ports := -1, map[string]int{}
	for _, g := range o.Owns {
		group := &m.Topology[g]
		switch {
		case !group.Hard || group.Kind == topology.Exclusive:
		case group.Kind == topology.Affinity && affinity >= 0:
			out[affinity].groups = append(out[affinity].groups, g)
		case group.Kind == topology.Affinity:
			affinity = len(out)
			fallthrough
		default:
			out = append(out, rule{kind: group.Kind, own: true, groups: []int32{g}})
		}
	}
	for _, g := range o.In {
		group := &m.Topology[g]
		switch {
		case group.Kind == topology.Exclusive:
			// A port has one group for each host IP that pods name for it.
			port := group.Key[:strings.LastIndexByte(group.Key, '/')]
			at, ok := ports[port]
			if !ok {
				at = len(out)
				ports[port] = at
				out = append(out, rule{kind: topology.Exclusive, own: true})
			}
			out[at].groups = append(out[at].groups, g)
		case group.Kind == topology.Anti && group.Hard && !topology.Contains(o.Owns, g):
			out = append(out, rule{kind: topology.Anti, groups: []int32{g}})
		}
	}
	return out
}

// leftOutOf returns the topology groups o without this rule.
func (r *rule) leftOutOf(o *topology.Groups) *topology.Groups {
	drop := func(list []int32) []int32 {
		return slices.DeleteFunc(slices.Clone(list), func(g int32) bool { return topology.Contains(r.groups, g) })
	}
	out := &topology.Groups{Owns: drop(o.Owns), In: o.In}
	if r.kind == topology.Anti || r.kind == topology.Exclusive {
		out.In = drop(o.In)
	}
	return out
}

// aloneIn returns the topology groups o with this rule as the only one.
func (r *rule) aloneIn(o *topology.Groups, m *model.Model) *topology.Groups {
	out := &topology.Groups{Owns: slices.DeleteFunc(slices.Clone(o.Owns), func(g int32) bool { return !topology.Contains(r.groups, g) })}
	for _, g := range o.In {
		// Spread and affinity count the pod itself, so the groups of these kinds stay. Other rules that could refuse the pod are left out.
		if kind := m.Topology[g].Kind; topology.Contains(r.groups, g) || (kind != topology.Anti && kind != topology.Exclusive) {
			out.In = append(out.In, g)
		}
	}
	return out
}

// admits reports whether the rules allow the pod on the candidate. loosely must be set for nodes that could not be bought for the plan: see
// spreadsLoosely.
func (x ruleFaults) admits(q *question, cand *candidate, loosely bool) bool {
	if x.t.S.Topology == nil {
		return true
	}
	loosely = loosely || x.loosely
	known := x.verdictOn(q, cand)
	if known != nil && *known != verdictOpen && !loosely {
		return *known == verdictAdmits
	}
	a := admission{q, ruleSite{x.cellOf(q, cand), q.p.Table.Rows[cand.row].Resident, loosely || q.changed}}
	ok, met := x.admitted[a]
	if !met {
		ok = !x.bars(a.site.cell)
		if o := x.c.Topology; ok && o != nil {
			x.on(q, cand, func(h *topology.Host) { ok = x.admitsAt(o, h.Domains, h.Of, a.site.loosely) })
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

// bars reports whether a new node in the cell would add a domain because of which a spread no longer allows an already placed pod.
func (x *explanations) bars(cell int32) bool {
	barred, known := x.barred[cell]
	if !known {
		barred = placing.SpreadsOf(x.t).BreaksSpread(x.cells.List[cell])
		x.barred[cell] = barred
	}
	return barred
}

// on adds the candidate with its DaemonSet pods to the trial, calls look(host), and removes the candidate again.
func (x ruleFaults) on(q *question, cand *candidate, look func(*topology.Host)) {
	s := x.t.S.Topology
	host := x.addNode(q, cand)
	residents := q.p.Table.Rows[cand.row].Residents
	for _, class := range residents {
		s.Place(x.m.Classes[class].Topology, host, 1)
	}
	x.residents = int32(len(residents))
	look(&s.Hosts[host])
	x.residents = 0
	for _, class := range residents {
		s.Place(x.m.Classes[class].Topology, host, -1)
	}
	s.DropHost()
}

// addNode adds the candidate to the trial's nodes and returns its number. Topology rules depend on the node's labels. They are read once
// for all nodes that rules treat alike.
func (x ruleFaults) addNode(q *question, cand *candidate) int32 {
	s, at := x.t.S.Topology, admission{q, ruleSite{cell: x.cellOf(q, cand), resident: q.p.Table.Rows[cand.row].Resident}}
	if known, ok := x.hosts[at]; ok {
		s.Hosts = append(s.Hosts, known)
		s.Notice(int32(len(s.Hosts)-1), 1)
		return int32(len(s.Hosts) - 1)
	}
	label := func(key string) string { return x.labelOn(q, cand, key) }
	if q.p == x.m.Pools[q.at] {
		label = func(key string) string {
			return x.m.Pools[q.at].Label(cand.row, cand.slot, &q.assigned[cand.assign], key)
		}
	}
	labels := map[string]string{}
	for key := range x.m.AskedKeys {
		if value := label(key); value != "" {
			labels[key] = value
		}
	}
	known := q.p.WithOpen(requirements.FromLabels(labels), cand.row, &q.assigned[cand.assign], x.m.AskedKeys)
	host := s.AddHost(label, known, q.p.Taints)
	x.hosts[at] = s.Hosts[host]
	return host
}

// verdictOn returns the cache entry for the candidate's assignment and slot, or nil if these alone don't decide the verdict.
func (x ruleFaults) verdictOn(q *question, cand *candidate) *verdict {
	if !q.plain || q.p.Table.Rows[cand.row].Resident != 0 {
		return nil
	}
	slots := len(q.p.Table.Catalog.Slots)
	if x.wayOf != q {
		x.wayOf, x.byWay = q, make([]verdict, slots*len(q.assigned))
	}
	return &x.byWay[cand.assign*slots+cand.slot]
}

// admitsAt reports whether a pod with these topology groups may run on a node that is in the given domains. The function of returns the
// counts of a topology group on the node.
func (x ruleFaults) admitsAt(o *topology.Groups, domains []int32, of func(group int32) topology.Tally, loosely bool) bool {
	if loosely {
		if !x.spreadsLoosely(o, domains) {
			return false
		}
		o = withoutWideSpreads(o, x.m)
	}
	state := x.t.S.Topology
	return topology.AdmitsHost(x.m.Topology, o, of) > 0 && state.AdmitsDomains(o, x.c.Shape, domains) && state.AdmitsAffinity(o, domains, of)
}

// spreadsLoosely checks spread rules over domains larger than a node for a pod whose demands differ from the plan's. The set of counted
// nodes may change with the demands. So it counts every member and assumes that the emptiest domain is empty. If a node passes, it is
// allowed with any set of counted nodes.
func (x ruleFaults) spreadsLoosely(o *topology.Groups, domains []int32) bool {
	for _, g := range o.Owns {
		group := &x.m.Topology[g]
		if group.At == topology.Hostname || !group.Hard || group.Kind != topology.Spread {
			continue
		}
		d := domains[group.At]
		if d == topology.NoDomain || topology.CountAt(x.membersOf(g), d)+x.residents+1 > group.MaxSkew {
			return false
		}
	}
	return true
}

func withoutWideSpreads(o *topology.Groups, m *model.Model) *topology.Groups {
	return &topology.Groups{In: o.In, Owns: slices.DeleteFunc(slices.Clone(o.Owns), func(g int32) bool {
		return m.Topology[g].Kind == topology.Spread && m.Topology[g].At != topology.Hostname
	})}
}

// membersOf returns the number of the group's members by domain, on all nodes.
func (x ruleFaults) membersOf(g int32) []int32 {
	if known, ok := x.everyone[g]; ok {
		return known
	}
	t, m := x.t, x.m
	var out []int32
	at := m.Topology[g].At
	note := func(class, host, n int32) {
		o := m.Classes[class].Topology
		if d := t.S.Topology.Hosts[host].Domains[at]; o != nil && d != topology.NoDomain && topology.Contains(o.In, g) {
			out = topology.Bump(out, d, n)
		}
	}
	for i := range m.Nodes {
		if t.S.Topology.Hosts[i].Gone {
			continue
		}
		for _, class := range podsOn(m, int32(i)) {
			note(class, int32(i), 1)
		}
	}
	for _, b := range t.S.Placed.All {
		note(b.Class, b.Host, b.Count)
	}
	for i := range t.S.Planned {
		mc := &t.S.Planned[i]
		for _, class := range m.Pools[mc.Pool].Table.Rows[mc.Row].Residents {
			note(class, int32(len(m.Nodes)+i), 1)
		}
	}
	x.everyone[g] = out
	return out
}

// podsOn returns the classes of the pods on a node of the snapshot, and of the DaemonSet pods that it will get.
func podsOn(m *model.Model, node int32) []int32 {
	n := &m.Nodes[node]
	var out []int32
	for _, p := range n.Bound {
		out = append(out, p.Class)
	}
	for _, d := range n.MissingDaemons(m.DaemonSets, &m.Groups[n.Group]) {
		out = append(out, m.DaemonSets[d].Class)
	}
	return out
}

// skewNeeded returns the maxSkew with which a spread rule would allow the pod in the domains, or 0 if no maxSkew would.
func (x ruleFaults) skewNeeded(r *rule, domains []int32, of func(group int32) topology.Tally) int32 {
	g := r.groups[0]
	group := &x.m.Topology[g]
	if group.At == topology.Hostname {
		n := of(g).Members
		if topology.Contains(x.c.Topology.In, g) {
			n++
		}
		return n
	}
	if domains[group.At] == topology.NoDomain {
		return 0
	}
	return x.t.S.Topology.SkewAfter(x.c.Topology, g, x.c.Shape, domains[group.At])
}

// words returns a description of the rule.
func (x ruleFaults) words(r *rule) string {
	m := x.m
	group := &m.Topology[r.groups[0]]
	who := group.Who()
	switch r.kind {
	case topology.Spread:
		text := fmt.Sprintf("topology spread by %s with maxSkew %d", group.Key, group.MaxSkew)
		if group.MinDomains > 1 {
			text += fmt.Sprintf(" and minDomains %d", group.MinDomains)
		}
		return text + " of " + who
	case topology.Anti:
		if group.Disk != "" {
			return group.Disk + ", which a pod on the node uses"
		}
		if r.own {
			return fmt.Sprintf("pod anti-affinity by %s to %s", group.Key, who)
		}
		return fmt.Sprintf("pod anti-affinity by %s of pods that have a place to %s", group.Key, who)
	case topology.Affinity:
		if group.Shared != "" {
			text := "the devices of claim " + group.Shared + ", which it shares with pods that run where they are"
			if x.t.S.Topology.Total[r.groups[0]] == 0 {
				text = "the devices of claim " + group.Shared + ", which it shares with pods of which none has a place yet"
			}
			return text
		}
		var keys []string
		none := true
		for _, g := range r.groups {
			keys = append(keys, m.Topology[g].Key)
			none = none && x.t.S.Topology.Total[g] == 0
		}
		text := fmt.Sprintf("pod affinity by %s to %s", strings.Join(keys, " and "), who)
		if none {
			return text + ", of which none has a place yet"
		}
		return text + ", which have their places elsewhere"
	}
	if r.kind == topology.Together {
		return "the volume of claim " + group.Claim.Handle + ", which it shares with pods that have their places elsewhere"
	}
	return planning.PortWords + group.Key[:strings.LastIndexByte(group.Key, '/')] + planning.TakenWords
}

// newDomainRule explains why a node can't be bought in an empty domain.
const newDomainRule = "topology spread of pods that have a place, which does not count a node in another domain"
