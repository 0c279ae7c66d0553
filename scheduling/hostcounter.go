package scheduling

import "slices"

// hostCounter counts the pods of one machine of the snapshot after another. It does what topologyState.place does, for all pods
// of a machine together, and takes the memory for what it finds in large pieces.
type hostCounter struct {
	s *topologyState
	// stakes are those of the model's classes; onHost tells of each group whether its domains are machines, and keepsAway
	// whether those who state it keep others away.
	stakes            []*ownership
	onHost, keepsAway []bool
	host              int32
	// members and owners are those on the machine, by group; met are the groups that have some.
	members, owners []int32
	met             []int32
	has             []bool
	arena           []tally
}

func newHostCounter(s *topologyState) *hostCounter {
	m := s.m
	n := len(m.topology)
	c := &hostCounter{
		s: s, stakes: make([]*ownership, len(m.classes)), onHost: make([]bool, n), keepsAway: make([]bool, n),
		members: make([]int32, n), owners: make([]int32, n), has: make([]bool, n),
	}
	for i, class := range m.classes {
		c.stakes[i] = class.topology
	}
	for g := range m.topology {
		group := &m.topology[g]
		c.onHost[g], c.keepsAway[g] = group.at == hostnameKey, group.kind == kindAnti && group.hard
	}
	return c
}

// begin starts a machine.
func (c *hostCounter) begin(host int32) { c.host, c.met = host, c.met[:0] }

// add counts one pod with the stake.
func (c *hostCounter) add(o *ownership) {
	s := c.s
	h := &s.hosts[c.host]
	for _, g := range o.in {
		if h.ignored(g) {
			continue
		}
		if c.onHost[g] {
			c.meet(g)
			c.members[g]++
			s.total[g]++
		} else if d := h.domains[s.m.topology[g].at]; d != noDomain {
			s.members[g] = bump(s.members[g], d, 1)
			s.total[g]++
		}
	}
	for _, g := range o.owns {
		if !c.keepsAway[g] {
			continue
		}
		if c.onHost[g] {
			c.meet(g)
			c.owners[g]++
		} else if d := h.domains[s.m.topology[g].at]; d != noDomain {
			s.owners[g] = bump(s.owners[g], d, 1)
		}
	}
}

func (c *hostCounter) meet(group int32) {
	if !c.has[group] {
		c.has[group] = true
		c.met = append(c.met, group)
	}
}

// end hands the machine its tally.
func (c *hostCounter) end() {
	if len(c.met) == 0 {
		return
	}
	slices.Sort(c.met)
	const piece = 4096
	if cap(c.arena)-len(c.arena) < len(c.met) {
		c.arena = make([]tally, 0, max(piece, len(c.met)))
	}
	from := len(c.arena)
	for _, g := range c.met {
		c.arena = append(c.arena, tally{g, c.members[g], c.owners[g]})
		c.members[g], c.owners[g], c.has[g] = 0, 0, false
	}
	c.s.hosts[c.host].tally = c.arena[from:len(c.arena):len(c.arena)]
}
