package topology

import "slices"

// HostCounter counts the pods of the snapshot's nodes, one node after another. It does the same as State.Place, but for all pods of a node
// together, and allocates memory for the results in large pieces.
type HostCounter struct {
	s *State
	// onHost says for each group whether its domains are nodes. keepsAway says for each group whether its owners keep other pods away.
	onHost, keepsAway []bool
	host              int32
	// members and owners are the counts on the node, by group. met lists the groups whose counts are not zero.
	members, owners []int32
	met             []int32
	has             []bool
	arena           []Tally
}

// NewHostCounter returns a counter for the state.
func NewHostCounter(s *State) *HostCounter {
	n := len(s.groups)
	c := &HostCounter{
		s: s, onHost: make([]bool, n), keepsAway: make([]bool, n),
		members: make([]int32, n), owners: make([]int32, n), has: make([]bool, n),
	}
	for g := range s.groups {
		group := &s.groups[g]
		c.onHost[g], c.keepsAway[g] = group.At == Hostname, group.Kind == Anti && group.Hard
	}
	return c
}

// Begin starts counting the pods of a node.
func (c *HostCounter) Begin(host int32) { c.host, c.met = host, c.met[:0] }

// Add counts one pod with the topology groups o.
func (c *HostCounter) Add(o *Groups) {
	s := c.s
	h := &s.Hosts[c.host]
	for _, g := range o.In {
		if h.Ignored(g) {
			continue
		}
		if c.onHost[g] {
			c.meet(g)
			c.members[g]++
			s.Total[g]++
		} else if d := h.Domains[s.groups[g].At]; d != NoDomain {
			s.Members[g] = Bump(s.Members[g], d, 1)
			s.Total[g]++
		}
	}
	for _, g := range o.Owns {
		if !c.keepsAway[g] {
			continue
		}
		if c.onHost[g] {
			c.meet(g)
			c.owners[g]++
		} else if d := h.Domains[s.groups[g].At]; d != NoDomain {
			s.Owners[g] = Bump(s.Owners[g], d, 1)
		}
	}
}

func (c *HostCounter) meet(group int32) {
	if !c.has[group] {
		c.has[group] = true
		c.met = append(c.met, group)
	}
}

// End writes the node's counts to the state.
func (c *HostCounter) End() {
	if len(c.met) == 0 {
		return
	}
	slices.Sort(c.met)
	const piece = 4096
	if cap(c.arena)-len(c.arena) < len(c.met) {
		c.arena = make([]Tally, 0, max(piece, len(c.met)))
	}
	from := len(c.arena)
	for _, g := range c.met {
		c.arena = append(c.arena, Tally{g, c.members[g], c.owners[g]})
		c.members[g], c.owners[g], c.has[g] = 0, 0, false
	}
	c.s.Hosts[c.host].Tally = c.arena[from:len(c.arena):len(c.arena)]
}
