package scheduling

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/api/requirements"
	"github.com/drawknife/drawknife/internal/engine/match"
)

// topologyState counts, while a trial goes on, who is where. Groups and keys are the model's.
type topologyState struct {
	m *Model
	// members and owners are indexed [group][domain]: pods that the group counts, and pods that state an anti-affinity.
	// Groups whose domains are machines have their counts in hosts instead.
	members, owners [][]int32
	// total is indexed by group: members in any domain.
	total []int32
	// present is indexed [group][domain]: machines of the domain that the group takes notice of.
	present [][]int32
	// hosts are the snapshot's machines, then the new ones.
	hosts []hostState
	// domains number the values of each topology key; those of the model first.
	domains []map[string]int32
	owned   bool // domains are this state's own, not shared with the model
	// binding makes spreads count as kube-scheduler does: the domains that there are, and no others. Else they also count
	// those where a machine could be had, and machines yet to come.
	binding bool
	// looseHosts makes spreads over machines count an empty machine even then: nothing placed rests on there being none.
	looseHosts bool
	// least remembers, by group whose domains are machines, the least number of members on any; nil when not known.
	least map[int32]int32
}

// hostState is what topology knows of one machine.
type hostState struct {
	// domains is indexed like Model.topologyKeys; noDomain where the machine lacks the label.
	domains []int32
	// ignoredBy lists the groups that take no notice of the machine, ascending.
	ignoredBy []int32
	// tally counts members and owners of groups on this machine, by group ascending. shared marks it as belonging to
	// another state too: copy before a change.
	tally  []tally
	shared bool
	gone   bool
}

type tally struct{ group, members, owners int32 }

const noDomain = -1

// newTopologyState is the state of the snapshot's machines with their bound pods; it is made once per model.
func newTopologyState(m *Model) *topologyState {
	n := len(m.topology)
	s := &topologyState{m: m, members: make([][]int32, n), owners: make([][]int32, n), total: make([]int32, n), present: make([][]int32, n), owned: true}
	s.domains = make([]map[string]int32, len(m.topologyKeys))
	for i := range s.domains {
		s.domains[i] = map[string]int32{}
	}
	ruledDaemons := slices.ContainsFunc(m.daemonSets, func(d daemon) bool { return m.classes[d.class].topology != nil })
	s.hosts = make([]hostState, 0, len(m.nodes))
	c := newHostCounter(s)
	// The first machine of each group, from 1 on, and how many more there are: they are like it.
	first, more := make([]int32, len(m.groups)), make([]int32, len(m.groups))
	for i := range m.nodes {
		n := &m.nodes[i]
		g := &m.groups[n.group]
		if like := first[n.group]; like > 0 {
			s.hosts = append(s.hosts, hostState{domains: s.hosts[like-1].domains, ignoredBy: s.hosts[like-1].ignoredBy})
			more[n.group]++
		} else {
			s.addHost(func(key string) string { return match.OnlyValue(g.labels.Get(key)) }, g.labels, g.taints)
			first[n.group] = int32(i + 1)
		}
		if n.source.Leaving {
			s.setGone(int32(i), true)
			continue
		}
		c.begin(int32(i))
		for k := range n.bound {
			p := &n.bound[k]
			if o := c.stakes[p.class]; o != nil {
				if p.terminating {
					o = m.stakeOfBound(*p)
				}
				c.add(o)
			}
		}
		if ruledDaemons {
			for _, d := range m.missingDaemons(n) {
				if o := m.classes[m.daemonSets[d].class].topology; o != nil {
					c.add(o)
				}
			}
		}
		c.end()
	}
	for g, host := range first {
		if more[g] > 0 {
			s.notice(host-1, more[g])
		}
	}
	return s
}

// domainCounts is how many domains of each topology key are known.
func (s *topologyState) domainCounts() []int {
	out := make([]int, len(s.domains))
	for i := range s.domains {
		out[i] = len(s.domains[i])
	}
	return out
}

// stakeOfBound is the stake of a bound pod as others see it: one that is terminating counts no more for spreads, as in
// kube-scheduler, but keeps others away or draws them until it is gone.
func (m *Model) stakeOfBound(p boundPod) *ownership {
	o := m.classes[p.class].topology
	if o == nil || !p.terminating {
		return o
	}
	in := slices.DeleteFunc(slices.Clone(o.in), func(g int32) bool { return m.topology[g].kind == kindSpread })
	return &ownership{owns: o.owns, in: in}
}

// clone shares what is only read and tallies until they change.
func (s *topologyState) clone() *topologyState {
	out := &topologyState{
		m: s.m, members: cloneCounts(s.members), owners: cloneCounts(s.owners), total: slices.Clone(s.total),
		present: cloneCounts(s.present), hosts: slices.Clone(s.hosts), domains: s.domains,
	}
	for i := range out.hosts {
		out.hosts[i].shared = true
	}
	return out
}

func cloneCounts(in [][]int32) [][]int32 {
	out := make([][]int32, len(in))
	total := 0
	for _, c := range in {
		total += len(c)
	}
	flat := make([]int32, 0, total)
	for i, c := range in {
		from := len(flat)
		flat = append(flat, c...)
		out[i] = flat[from:len(flat):len(flat)]
	}
	return out
}

// domain numbers a value of a topology key.
func (s *topologyState) domain(at int, value string) int32 {
	if value == "" {
		return noDomain
	}
	if n, ok := s.domains[at][value]; ok {
		return n
	}
	if !s.owned {
		own := make([]map[string]int32, len(s.domains))
		for i, d := range s.domains {
			own[i] = make(map[string]int32, len(d)+1)
			for k, v := range d {
				own[i][k] = v
			}
		}
		s.domains, s.owned = own, true
	}
	n := int32(len(s.domains[at]))
	s.domains[at][value] = n
	return n
}

// domainsOf reads a machine's domains from its labels.
func (s *topologyState) domainsOf(label func(key string) string) []int32 {
	out := make([]int32, len(s.m.topologyKeys))
	for at, key := range s.m.topologyKeys {
		out[at] = s.domain(at, label(key))
	}
	return out
}

// addHost adds an empty machine and returns its number.
func (s *topologyState) addHost(label func(key string) string, labels requirements.Set, taints []corev1.Taint) int32 {
	at := int32(len(s.hosts))
	s.hosts = append(s.hosts, hostState{domains: s.domainsOf(label), ignoredBy: s.ignoredBy(labels, taints)})
	s.notice(at, 1)
	return at
}

// ignoredBy lists the groups that take no notice of a machine with the labels and taints, ascending.
func (s *topologyState) ignoredBy(labels requirements.Set, taints []corev1.Taint) (groups []int32) {
	for g := range s.m.topology {
		if !s.m.topology[g].filter.accepts(labels, taints) {
			groups = append(groups, int32(g))
		}
	}
	return groups
}

// rejoin gives a machine that is there other domains and groups that take no notice of it; its pods must not be counted
// meanwhile.
func (s *topologyState) rejoin(host int32, domains, ignoredBy []int32) {
	s.notice(host, -1)
	s.hosts[host].domains, s.hosts[host].ignoredBy = domains, ignoredBy
	s.notice(host, 1)
}

// dropHost removes the last machine, which must be empty.
func (s *topologyState) dropHost() {
	at := int32(len(s.hosts) - 1)
	s.notice(at, -1)
	s.hosts = s.hosts[:at]
}

// setGone makes a machine and its domains disappear from the counts of machines, or come back. Its pods are placed and
// removed by themselves.
func (s *topologyState) setGone(host int32, gone bool) {
	if s.hosts[host].gone == gone {
		return
	}
	if gone {
		s.notice(host, -1)
	} else {
		s.notice(host, 1)
	}
	s.hosts[host].gone = gone
}

// notice counts the machine in the domains of the groups that take notice of it.
func (s *topologyState) notice(host, n int32) {
	s.least = nil
	h := &s.hosts[host]
	for g := range s.m.topology {
		at := s.m.topology[g].at
		if at == hostnameKey || h.domains[at] == noDomain || h.ignored(int32(g)) {
			continue
		}
		s.present[g] = bump(s.present[g], h.domains[at], n)
	}
}

func (h *hostState) ignored(group int32) bool {
	if len(h.ignoredBy) == 0 {
		return false
	}
	_, ok := slices.BinarySearch(h.ignoredBy, group)
	return ok
}

// accepts reports whether the filter takes notice of a machine, whatever values its labels will have that are not decided
// yet.
func (f *nodeFilter) accepts(labels requirements.Set, taints []corev1.Taint) bool {
	if f.terms != nil && !match.AnySureBy(f.terms, labels) {
		return false
	}
	for _, key := range f.keys {
		if match.OnlyValue(labels.Get(key)) == "" {
			return false
		}
	}
	return !f.taints || match.Untolerated(f.tolerations, taints, true) == nil
}

// bump adds n to counts[at], growing as needed.
func bump(counts []int32, at, n int32) []int32 {
	for int(at) >= len(counts) {
		counts = append(counts, 0)
	}
	counts[at] += n
	return counts
}

func countAt(counts []int32, at int32) int32 {
	if at < 0 || int(at) >= len(counts) {
		return 0
	}
	return counts[at]
}

// place adds n pods with the given stake to a machine; n may be negative.
func (s *topologyState) place(o *ownership, host, n int32) {
	if o == nil {
		return
	}
	s.least = nil
	h := &s.hosts[host]
	for _, g := range o.in {
		group := &s.m.topology[g]
		if h.ignored(g) {
			continue
		}
		if group.at == hostnameKey {
			h.count(g, n, 0)
			s.total[g] += n
			continue
		}
		if d := h.domains[group.at]; d != noDomain {
			s.members[g] = bump(s.members[g], d, n)
			s.total[g] += n
		}
	}
	for _, g := range o.owns {
		group := &s.m.topology[g]
		if group.kind != kindAnti || !group.hard {
			continue
		}
		if group.at == hostnameKey {
			h.count(g, 0, n)
		} else if d := h.domains[group.at]; d != noDomain {
			s.owners[g] = bump(s.owners[g], d, n)
		}
	}
}

func (h *hostState) count(group, members, owners int32) {
	at, ok := slices.BinarySearchFunc(h.tally, group, func(t tally, g int32) int { return int(t.group) - int(g) })
	if h.shared {
		h.tally, h.shared = slices.Clone(h.tally), false
	}
	if !ok {
		h.tally = slices.Insert(h.tally, at, tally{group: group})
	}
	h.tally[at].members += members
	h.tally[at].owners += owners
}

func (h *hostState) of(group int32) tally {
	if at, ok := slices.BinarySearchFunc(h.tally, group, func(t tally, g int32) int { return int(t.group) - int(g) }); ok {
		return h.tally[at]
	}
	return tally{}
}
