package layout

import (
	"slices"

	"github.com/drawknife/drawknife/internal/engine/daemonset"
	"github.com/drawknife/drawknife/internal/engine/existing"
	"github.com/drawknife/drawknife/internal/engine/match"
	"github.com/drawknife/drawknife/internal/engine/nodepool"
	"github.com/drawknife/drawknife/internal/engine/podclass"
	"github.com/drawknife/drawknife/internal/engine/topology"
)

// Cluster contains the parts of a cluster that determine in which domains pods are or could be.
type Cluster struct {
	// Rules are the rules that pods state. Keys are the topology keys of these rules, without the hostname.
	Rules      []topology.Group
	Keys       []string
	Classes    []*podclass.Class
	Shapes     []*podclass.Shape
	Pools      []*nodepool.Pool
	Nodes      []existing.Node
	Groups     []existing.Group
	DaemonSets []daemonset.Set
}

// ValuesOnNodes returns the values of a label on existing nodes, sorted.
func (l *Cluster) ValuesOnNodes(key string) []string {
	var out []string
	for i := range l.Groups {
		if v := match.OnlyValue(l.Groups[i].Labels.Get(key)); v != "" {
			out = append(out, v)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Count returns the topology state of the existing nodes, with their bound pods.
func (l *Cluster) Count(reachable func(shape int32, key int) []int32) *topology.State {
	s := topology.NewState(l.Rules, l.Keys, reachable, len(l.Nodes))
	ruledDaemons := slices.ContainsFunc(l.DaemonSets, func(d daemonset.Set) bool { return l.Classes[d.Class].Topology != nil })
	c := topology.NewHostCounter(s)
	groups := make([]*topology.Groups, len(l.Classes))
	for i, class := range l.Classes {
		groups[i] = class.Topology
	}
	// The list first has the number, counted from 1, of the first node of each group, and more has the number of the group's further nodes.
	// The nodes of a group are equal.
	first, more := make([]int32, len(l.Groups)), make([]int32, len(l.Groups))
	for i := range l.Nodes {
		n := &l.Nodes[i]
		g := &l.Groups[n.Group]
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
			if o := groups[p.Class]; o != nil {
				if p.Terminating {
					o = GroupsOfBound(l.Rules, *p, o)
				}
				c.Add(o)
			}
		}
		if ruledDaemons {
			for _, d := range n.MissingDaemons(l.DaemonSets, &l.Groups[n.Group]) {
				if o := l.Classes[l.DaemonSets[d].Class].Topology; o != nil {
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

// GroupsOfBound returns those topology groups in o of a bound pod that count for other pods. As in kube-scheduler, a terminating pod no
// longer counts for spreads, but its affinity and anti-affinity count until it is gone.
func GroupsOfBound(rules []topology.Group, p existing.Pod, o *topology.Groups) *topology.Groups {
	if o == nil || !p.Terminating {
		return o
	}
	in := slices.DeleteFunc(slices.Clone(o.In), func(g int32) bool { return rules[g].Kind == topology.Spread })
	return &topology.Groups{Owns: o.Owns, In: in}
}
