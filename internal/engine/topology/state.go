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
	// groups are the rules. keys are the labels whose values are domains.
	groups []Group
	keys   []string
	// Reach returns, in ascending order, the domains in which pods of a shape could get a new node. key is the index of the topology key.
	Reach func(shape int32, key int) []int32
	// Members and Owners are indexed by group and domain. Members has the number of pods that the group counts, and Owners has the number
	// of pods that state the group's anti-affinity. For groups whose domains are nodes, Hosts has these counts.
	Members, Owners [][]int32
	// Total is indexed by group. It has the number of members in all domains.
	Total []int32
	// Present is indexed by group and domain. It has the number of nodes in the domain that the group counts.
	Present [][]int32
	// Hosts are the snapshot's nodes, followed by the new nodes.
	Hosts []Host
	// Domains maps the values of each topology key to their numbers. Values that the model knows have the first numbers.
	Domains []map[string]int32
	Owned   bool // Domains belongs to this state, and is not shared with the model
	// Binding makes spreads count only existing domains, as kube-scheduler does. If Binding is false, spreads also count domains in which a
	// node could be launched, and nodes that could be added.
	Binding bool
	// LooseHosts makes spreads over nodes count an additional empty node even if Binding is set. With it, spreads never allow a placement
	// only because no existing node is empty.
	LooseHosts bool
	// least caches, for each group whose domains are nodes, the least number of members on any node. It is nil if these numbers are
	// unknown.
	least map[int32]int32
}

// Host is one node in the form that topology rules use.
type Host struct {
	// Domains is indexed like State.keys. An entry is NoDomain if the node lacks the label.
	Domains []int32
	// IgnoredBy lists the groups that ignore the node, in ascending order.
	IgnoredBy []int32
	// Tally has the number of members and owners of groups on this node, sorted by group. shared means that another state also uses the
	// list Tally, so that the list must be copied before a change.
	Tally  []Tally
	shared bool
	Gone   bool
}

// Tally is the number of members and owners of a group that a node has.
type Tally struct{ group, Members, owners int32 }

// NoDomain is the domain of a node without the label.
const NoDomain = -1

// NewState returns a state without nodes. It allocates memory for the given number of nodes.
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

// AddLike adds an empty node with the same domains as an existing node. It does not call Notice, which the caller must call once for all
// such nodes together.
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

// Clone returns a copy. The copy shares the parts that are only read, and shares each list of tallies until it changes.
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

// Fork does the same as Clone for a state that will be changed further. After that, both states copy shared data before they change the
// data.
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

// domain returns the number of a value of the topology key with the index at. A new value gets a new number.
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

// DomainsOf returns the domains of a node. label returns the value of a label of the node.
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

// AddHostIn does the same as AddHost if the node's domains, and the groups that ignore it, are already known. It does not change the lists
// domains and ignoredBy.
func (s *State) AddHostIn(domains, ignoredBy []int32) int32 {
	at := int32(len(s.Hosts))
	s.Hosts = append(s.Hosts, Host{Domains: domains, IgnoredBy: ignoredBy})
	s.Notice(at, 1)
	return at
}

// IgnoredBy lists the groups that ignore a node with these labels and taints, in ascending order.
func (s *State) IgnoredBy(labels requirements.Set, taints []corev1.Taint) (groups []int32) {
	for g := range s.groups {
		if !s.groups[g].Filter.accepts(labels, taints) {
			groups = append(groups, int32(g))
		}
	}
	return groups
}

// Rejoin changes the domains of an existing node and the groups that ignore it. The caller must have removed the node's pods from the
// counts.
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

// SetGone removes a node from the counts of nodes in its domains, or adds it again if gone is false. Its pods are placed and removed
// separately.
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

// Notice adds n to the number of nodes in the node's domains, for the groups that count the node.
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

// accepts reports whether the filter includes a node for all possible values of the node's undecided labels.
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

// Bump adds n to counts[at], and makes the list longer if necessary.
func Bump(counts []int32, at, n int32) []int32 {
	for int(at) >= len(counts) {
		counts = append(counts, 0)
	}
	counts[at] += n
	return counts
}

// CountAt returns the count of a domain, or 0 if the list has no entry for it.
func CountAt(counts []int32, at int32) int32 {
	if at < 0 || int(at) >= len(counts) {
		return 0
	}
	return counts[at]
}

// Place adds n pods with these topology groups to a node; n may be negative.
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

// Count adds the parameters members and owners to the node's numbers of members and owners of a group.
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
