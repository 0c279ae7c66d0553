package topology

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/api/requirements"
	"github.com/drawknife/drawknife/internal/engine/match"
)

// State counts pods by domain during a trial.
type State struct {
	// groups are the rules, keys the labels whose values are domains.
	groups []Group
	keys   []string
	// Reach lists the domains of a key in which pods of a shape could get a new node, ascending.
	Reach func(shape int32, key int) []int32
	// Members and Owners are indexed [group][domain]: pods that the group counts, and pods that state an anti-affinity. Groups whose
	// domains are nodes have their counts in Hosts instead.
	Members, Owners [][]int32
	// Total is indexed by group: members in any domain.
	Total []int32
	// Present is indexed [group][domain]: nodes of the domain that the group includes.
	Present [][]int32
	// Hosts are the snapshot's nodes, then the new ones.
	Hosts []Host
	// Domains number the values of each topology key; those of the model first.
	Domains []map[string]int32
	Owned   bool // Domains belong to this state, and are not shared with the model
	// Binding makes spreads count as kube-scheduler does: only existing domains. Otherwise they also count domains in which a node could
	// be launched, and future nodes.
	Binding bool
	// LooseHosts makes spreads over nodes count an empty node even with Binding, so that no placement is valid only because no node is empty.
	LooseHosts bool
	// least remembers, by group whose domains are nodes, the least number of members on any; nil if unknown.
	least map[int32]int32
}

// Host is one node as topology sees it.
type Host struct {
	// Domains is indexed like State.keys; NoDomain if the node lacks the label.
	Domains []int32
	// IgnoredBy lists the groups that ignore the node, ascending.
	IgnoredBy []int32
	// Tally has the members and owners of groups on this node, by group, ascending. shared means that another state uses it, too: copy it
	// before a change.
	Tally  []Tally
	shared bool
	Gone   bool
}

// Tally is how many members and owners of a group a node has.
type Tally struct{ group, Members, owners int32 }

// NoDomain is the domain of a node without the label.
const NoDomain = -1

// NewState makes a state without nodes, with memory for this number of nodes.
func NewState(groups []Group, keys []string, reach func(shape int32, key int) []int32, nodes int) *State {
	n := len(groups)
	s := &State{
		groups: groups, keys: keys, Reach: reach, Owned: true, Hosts: make([]Host, 0, nodes), Domains: make([]map[string]int32, len(keys)),
		Members: make([][]int32, n), Owners: make([][]int32, n), Total: make([]int32, n), Present: make([][]int32, n),
	}
	for i := range s.Domains {
		s.Domains[i] = map[string]int32{}
	}
	return s
}

// AddLike adds an empty node equal to an existing one, but without Notice, which must be called for all such nodes together.
func (s *State) AddLike(host int32) {
	s.Hosts = append(s.Hosts, Host{Domains: s.Hosts[host].Domains, IgnoredBy: s.Hosts[host].IgnoredBy})
}

// DomainCounts returns the number of known domains of each topology key.
func (s *State) DomainCounts() []int {
	out := make([]int, len(s.Domains))
	for i := range s.Domains {
		out[i] = len(s.Domains[i])
	}
	return out
}

// Clone shares the parts that are only read, and tallies until they change.
func (s *State) Clone() *State {
	out := &State{
		groups: s.groups, keys: s.keys, Reach: s.Reach, Members: cloneCounts(s.Members), Owners: cloneCounts(s.Owners), Total: slices.Clone(s.Total),
		Present: cloneCounts(s.Present), Hosts: slices.Clone(s.Hosts), Domains: s.Domains,
	}
	for i := range out.Hosts {
		out.Hosts[i].shared = true
	}
	return out
}

// Fork is Clone for a state that continues to change. Both then copy shared data before they change it.
func (s *State) Fork() *State {
	for i := range s.Hosts {
		s.Hosts[i].shared = true
	}
	out := s.Clone()
	out.Binding, out.LooseHosts = s.Binding, s.LooseHosts
	if s.Owned {
		out.Owned, out.Domains = true, slices.Clone(s.Domains)
		for i := range out.Domains {
			out.Domains[i] = maps.Clone(out.Domains[i])
		}
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
func (s *State) domain(at int, value string) int32 {
	if value == "" {
		return NoDomain
	}
	if n, ok := s.Domains[at][value]; ok {
		return n
	}
	if !s.Owned {
		own := make([]map[string]int32, len(s.Domains))
		for i, d := range s.Domains {
			own[i] = make(map[string]int32, len(d)+1)
			for k, v := range d {
				own[i][k] = v
			}
		}
		s.Domains, s.Owned = own, true
	}
	n := int32(len(s.Domains[at]))
	s.Domains[at][value] = n
	return n
}

// DomainsOf reads a node's domains from its labels.
func (s *State) DomainsOf(label func(key string) string) []int32 {
	out := make([]int32, len(s.keys))
	for at, key := range s.keys {
		out[at] = s.domain(at, label(key))
	}
	return out
}

// AddHost adds an empty node and returns its number.
func (s *State) AddHost(label func(key string) string, labels requirements.Set, taints []corev1.Taint) int32 {
	return s.AddHostIn(s.DomainsOf(label), s.IgnoredBy(labels, taints))
}

// AddHostIn is AddHost for a node with known domains and known groups that ignore it. Both are only read.
func (s *State) AddHostIn(domains, ignoredBy []int32) int32 {
	at := int32(len(s.Hosts))
	s.Hosts = append(s.Hosts, Host{Domains: domains, IgnoredBy: ignoredBy})
	s.Notice(at, 1)
	return at
}

// IgnoredBy lists the groups that ignore a node with the labels and taints, ascending.
func (s *State) IgnoredBy(labels requirements.Set, taints []corev1.Taint) (groups []int32) {
	for g := range s.groups {
		if !s.groups[g].Filter.accepts(labels, taints) {
			groups = append(groups, int32(g))
		}
	}
	return groups
}

// Rejoin changes the domains of an existing node and the groups that ignore it; its pods must not be counted at that time.
func (s *State) Rejoin(host int32, domains, ignoredBy []int32) {
	s.Notice(host, -1)
	s.Hosts[host].Domains, s.Hosts[host].IgnoredBy = domains, ignoredBy
	s.Notice(host, 1)
}

// DropHost removes the last node, which must be empty.
func (s *State) DropHost() {
	at := int32(len(s.Hosts) - 1)
	s.Notice(at, -1)
	s.Hosts = s.Hosts[:at]
}

// SetGone removes a node and its domains from the counts of nodes, or adds them again. Its pods are placed and removed separately.
func (s *State) SetGone(host int32, gone bool) {
	if s.Hosts[host].Gone == gone {
		return
	}
	if gone {
		s.Notice(host, -1)
	} else {
		s.Notice(host, 1)
	}
	s.Hosts[host].Gone = gone
}

// Notice counts the node in the domains of the groups that include it.
func (s *State) Notice(host, n int32) {
	s.least = nil
	h := &s.Hosts[host]
	for g := range s.groups {
		at := s.groups[g].At
		if at == Hostname || h.Domains[at] == NoDomain || h.Ignored(int32(g)) {
			continue
		}
		s.Present[g] = Bump(s.Present[g], h.Domains[at], n)
	}
}

// Ignored reports whether the group ignores the node.
func (h *Host) Ignored(group int32) bool {
	if len(h.IgnoredBy) == 0 {
		return false
	}
	_, ok := slices.BinarySearch(h.IgnoredBy, group)
	return ok
}

// accepts reports whether the filter includes a node, for every value of labels that are still undecided.
func (f *Filter) accepts(labels requirements.Set, taints []corev1.Taint) bool {
	if f.Terms != nil && !match.AnySureBy(f.Terms, labels) {
		return false
	}
	for _, key := range f.keys {
		if match.OnlyValue(labels.Get(key)) == "" {
			return false
		}
	}
	return !f.Taints || match.Untolerated(f.tolerations, taints, true) == nil
}

// Bump adds n to counts[at], growing as needed.
func Bump(counts []int32, at, n int32) []int32 {
	for int(at) >= len(counts) {
		counts = append(counts, 0)
	}
	counts[at] += n
	return counts
}

// CountAt returns the count of a domain; 0 for a domain without a count.
func CountAt(counts []int32, at int32) int32 {
	if at < 0 || int(at) >= len(counts) {
		return 0
	}
	return counts[at]
}

// Place adds n pods of the groups to a node; n may be negative.
func (s *State) Place(o *Groups, host, n int32) {
	if o == nil {
		return
	}
	s.least = nil
	h := &s.Hosts[host]
	for _, g := range o.In {
		group := &s.groups[g]
		if h.Ignored(g) {
			continue
		}
		if group.At == Hostname {
			h.Count(g, n, 0)
			s.Total[g] += n
			continue
		}
		if d := h.Domains[group.At]; d != NoDomain {
			s.Members[g] = Bump(s.Members[g], d, n)
			s.Total[g] += n
		}
	}
	for _, g := range o.Owns {
		group := &s.groups[g]
		if group.Kind != Anti || !group.Hard {
			continue
		}
		if group.At == Hostname {
			h.Count(g, 0, n)
		} else if d := h.Domains[group.At]; d != NoDomain {
			s.Owners[g] = Bump(s.Owners[g], d, n)
		}
	}
}

// Count adds members and owners of a group.
func (h *Host) Count(group, members, owners int32) {
	at, ok := slices.BinarySearchFunc(h.Tally, group, func(t Tally, g int32) int { return int(t.group) - int(g) })
	if h.shared {
		h.Tally, h.shared = slices.Clone(h.Tally), false
	}
	if !ok {
		h.Tally = slices.Insert(h.Tally, at, Tally{group: group})
	}
	h.Tally[at].Members += members
	h.Tally[at].owners += owners
}

// Of returns the tally of a group.
func (h *Host) Of(group int32) Tally {
	if at, ok := slices.BinarySearchFunc(h.Tally, group, func(t Tally, g int32) int { return int(t.group) - int(g) }); ok {
		return h.Tally[at]
	}
	return Tally{}
}
