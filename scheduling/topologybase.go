package scheduling

import (
	"slices"

	"github.com/drawknife/drawknife/internal/engine/daemonset"
	"github.com/drawknife/drawknife/internal/engine/existing"
	"github.com/drawknife/drawknife/internal/engine/match"
	"github.com/drawknife/drawknife/internal/engine/topology"
)

// newBase is the state of the snapshot's machines with their bound pods; it is made once per model.
func (m *Model) newBase() *topology.State {
	s := topology.NewState(m.topology, m.topologyKeys, m.reachable, len(m.nodes))
	ruledDaemons := slices.ContainsFunc(m.daemonSets, func(d daemonset.Set) bool { return m.classes[d.Class].Topology != nil })
	c := topology.NewHostCounter(s)
	stakes := make([]*topology.Groups, len(m.classes))
	for i, class := range m.classes {
		stakes[i] = class.Topology
	}
	// The first machine of each group, from 1 on, and how many more there are: they are like it.
	first, more := make([]int32, len(m.groups)), make([]int32, len(m.groups))
	for i := range m.nodes {
		n := &m.nodes[i]
		g := &m.groups[n.Group]
		if like := first[n.Group]; like > 0 {
			s.AddLike(like - 1)
			more[n.Group]++
		} else {
			s.AddHost(func(key string) string { return match.OnlyValue(g.Labels.Get(key)) }, g.Labels, g.Taints)
			first[n.Group] = int32(i + 1)
		}
		if n.Source.Leaving {
			s.SetGone(int32(i), true)
			continue
		}
		c.Begin(int32(i))
		for k := range n.Bound {
			p := &n.Bound[k]
			if o := stakes[p.Class]; o != nil {
				if p.Terminating {
					o = m.stakeOfBound(*p)
				}
				c.Add(o)
			}
		}
		if ruledDaemons {
			for _, d := range n.MissingDaemons(m.daemonSets, &m.groups[n.Group]) {
				if o := m.classes[m.daemonSets[d].Class].Topology; o != nil {
					c.Add(o)
				}
			}
		}
		c.End()
	}
	for g, host := range first {
		if more[g] > 0 {
			s.Notice(host-1, more[g])
		}
	}
	return s
}

// stakeOfBound is the stake of a bound pod as others see it: one that is terminating counts no more for spreads, as in
// kube-scheduler, but keeps others away or draws them until it is gone.
func (m *Model) stakeOfBound(p existing.Pod) *topology.Groups {
	o := m.classes[p.Class].Topology
	if o == nil || !p.Terminating {
		return o
	}
	in := slices.DeleteFunc(slices.Clone(o.In), func(g int32) bool { return m.topology[g].Kind == topology.Spread })
	return &topology.Groups{Owns: o.Owns, In: in}
}
