package newnodes

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/api/requirements"
	"github.com/drawknife/drawknife/internal/engine/match"
	"github.com/drawknife/drawknife/internal/engine/nodepool"
	"github.com/drawknife/drawknife/internal/engine/podclass"
	"github.com/drawknife/drawknife/internal/engine/state"
	"github.com/drawknife/drawknife/internal/engine/topology"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// BrokenWishes calls the function note for each preference of the pods that their node does not meet.
func (t NewNodes) BrokenWishes(b state.Binding, note func(code planning.RelaxationCode, detail string)) {
	m := t.M
	c := m.Classes[b.Class]
	s := m.Shapes[c.Shape]
	if taint := match.Untolerated(s.Tolerations, t.taintsOf(b.Host), false); taint != nil && taint.Effect == corev1.TaintEffectPreferNoSchedule {
		note(planning.RelaxedTaint, planning.TaintString(*taint))
	}
	if t.Options.Preferences == planning.PreferencesIgnore {
		return
	}
	var labels requirements.Set
	if len(s.Preferred) > 0 {
		labels = t.labelsOf(b.Host)
	}
	for _, p := range s.Preferred {
		if !p.Set.MetBy(labels) {
			note(planning.RelaxedNodeAffinity, fmt.Sprintf("weight %d: %s", p.Weight, p.Set))
		}
	}
	if c.Topology == nil {
		return
	}
	h := &t.S.Topology.Hosts[b.Host]
	for _, g := range c.Topology.Owns {
		group := &m.Topology[g]
		if group.Hard {
			continue
		}
		members, self := int32(0), int32(0)
		if group.At == topology.Hostname {
			members = h.Of(g).Members
		} else {
			members = topology.CountAt(t.S.Topology.Members[g], h.Domains[group.At])
		}
		if topology.Contains(c.Topology.In, g) {
			self = 1
		}
		switch {
		case group.Kind == topology.Anti && members > self:
			note(planning.RelaxedPodAntiAffinity, fmt.Sprintf("weight %d: by %s", group.Weight, group.Key))
		case group.Kind == topology.Affinity && members <= self && t.S.Topology.Total[g] > self:
			note(planning.RelaxedPodAffinity, fmt.Sprintf("weight %d: by %s", group.Weight, group.Key))
		case group.Kind == topology.Spread && members-t.emptiestOf(g, c) > group.MaxSkew:
			note(planning.RelaxedSpread, fmt.Sprintf("maxSkew %d by %s", group.MaxSkew, group.Key))
		}
	}
}

// emptiestOf returns the current number of members in the emptiest domain of the group.
func (t NewNodes) emptiestOf(g int32, c *podclass.Class) int32 {
	if t.M.Topology[g].At != topology.Hostname {
		return t.S.Topology.Emptiest(g, c.Shape)
	}
	least := int32(-1)
	for i := range t.S.Topology.Hosts {
		if h := &t.S.Topology.Hosts[i]; !h.Gone && !h.Ignored(g) {
			if n := h.Of(g).Members; least < 0 || n < least {
				least = n
			}
		}
	}
	return max(least, 0)
}

// labelsOf returns those labels of the host that pods ask about.
func (t NewNodes) labelsOf(host int32) requirements.Set {
	if host < int32(len(t.M.Nodes)) {
		return t.M.Groups[t.M.Nodes[host].Group].Labels
	}
	mc := &t.S.Planned[host-int32(len(t.M.Nodes))]
	return state.DecidedLabels(t.M.Pools, t.M.AskedKeys, mc, &nodepool.Assignment{Labels: mc.Labels})
}

func (t NewNodes) taintsOf(host int32) []corev1.Taint {
	if host < int32(len(t.M.Nodes)) {
		return t.M.Groups[t.M.Nodes[host].Group].Taints
	}
	return t.M.Pools[t.S.Planned[host-int32(len(t.M.Nodes))].Pool].Taints
}
