package scheduling

import (
	"slices"

	"github.com/drawknife/drawknife/internal/engine/daemonset"
	"github.com/drawknife/drawknife/internal/engine/existing"
	"github.com/drawknife/drawknife/internal/engine/match"
	"github.com/drawknife/drawknife/internal/engine/nodepool"
	"github.com/drawknife/drawknife/internal/engine/podclass"
	"github.com/drawknife/drawknife/internal/engine/topology"
)

// layout is what of a cluster decides in which domains pods are, or could be.
type layout struct {
	// rules are those that pods state, keys the labels whose values are their domains, the hostname aside.
	rules      []topology.Group
	keys       []string
	classes    []*podclass.Class
	shapes     []*podclass.Shape
	pools      []*nodepool.Pool
	nodes      []existing.Node
	groups     []existing.Group
	daemonSets []daemonset.Set
}

// valuesOnNodes are the values of a label on nodes of the snapshot, sorted.
func (l *layout) valuesOnNodes(key string) []string {
	var out []string
	for i := range l.groups {
		if v := match.OnlyValue(l.groups[i].Labels.Get(key)); v != "" {
			out = append(out, v)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// newBase is the state of the snapshot's nodes with their bound pods; it is made once per model.
func (l *layout) newBase(reachable func(shape int32, key int) []int32) *topology.State {
	s := topology.NewState(l.rules, l.keys, reachable, len(l.nodes))
	ruledDaemons := slices.ContainsFunc(l.daemonSets, func(d daemonset.Set) bool { return l.classes[d.Class].Topology != nil })
	c := topology.NewHostCounter(s)
	stakes := make([]*topology.Groups, len(l.classes))
	for i, class := range l.classes {
		stakes[i] = class.Topology
	}
	// The first node of each group, from 1 on, and how many more there are: they are like it.
	first, more := make([]int32, len(l.groups)), make([]int32, len(l.groups))
	for i := range l.nodes {
		n := &l.nodes[i]
		g := &l.groups[n.Group]
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
					o = stakeOfBound(l.rules, *p, o)
				}
				c.Add(o)
			}
		}
		if ruledDaemons {
			for _, d := range n.MissingDaemons(l.daemonSets, &l.groups[n.Group]) {
				if o := l.classes[l.daemonSets[d].Class].Topology; o != nil {
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

// stakeOfBound is the stake o of a bound pod as others see it: one that is terminating counts no more for spreads, as in
// kube-scheduler, but keeps others away or draws them until it is gone.
func stakeOfBound(rules []topology.Group, p existing.Pod, o *topology.Groups) *topology.Groups {
	if o == nil || !p.Terminating {
		return o
	}
	in := slices.DeleteFunc(slices.Clone(o.In), func(g int32) bool { return rules[g].Kind == topology.Spread })
	return &topology.Groups{Owns: o.Owns, In: in}
}
