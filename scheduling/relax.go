package scheduling

import (
	"cmp"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/api/requirements"
	"github.com/drawknife/drawknife/internal/engine/match"
	"github.com/drawknife/drawknife/internal/engine/nodepool"
	"github.com/drawknife/drawknife/internal/engine/podclass"
	"github.com/drawknife/drawknife/internal/engine/state"
	"github.com/drawknife/drawknife/internal/engine/topology"
)

// writeRelaxations records which wishes of placed pods the plan does not keep. Rules that may be broken are judged with
// all pods in their places.
func (t *Trial) writeRelaxations(out *Plan) {
	type wishKey struct {
		code   RelaxationCode
		detail string
	}
	at := map[wishKey]int{}
	type run struct{ wish, from, to int }
	var runs []run // of out.Order
	var counts []int
	from := 0
	for _, b := range t.s.Placed {
		first := from
		from += int(b.Count)
		t.brokenWishes(b, func(code RelaxationCode, detail string) {
			k := wishKey{code, detail}
			i, ok := at[k]
			if !ok {
				i = len(out.Relaxations)
				at[k] = i
				out.Relaxations, counts = append(out.Relaxations, Relaxation{Code: code, Detail: detail}), append(counts, 0)
			}
			runs = append(runs, run{i, first, from})
			counts[i] += from - first
		})
	}
	for _, r := range runs {
		pods := &out.Relaxations[r.wish].Pods
		if *pods == nil && r.to > r.from {
			*pods = make([]PodKey, 0, counts[r.wish])
		}
		*pods = append(*pods, out.Order[r.from:r.to]...)
	}
	slices.SortFunc(out.Relaxations, func(a, b Relaxation) int { return cmp.Or(cmp.Compare(a.Code, b.Code), cmp.Compare(a.Detail, b.Detail)) })
}

func (t *Trial) brokenWishes(b state.Binding, note func(code RelaxationCode, detail string)) {
	m := t.m
	c := m.c.Classes[b.Class]
	s := m.c.Shapes[c.Shape]
	if taint := match.Untolerated(s.Tolerations, t.taintsOf(b.Host), false); taint != nil && taint.Effect == corev1.TaintEffectPreferNoSchedule {
		note(RelaxedTaint, TaintString(*taint))
	}
	if t.options.Preferences == PreferencesIgnore {
		return
	}
	var labels requirements.Set
	if len(s.Preferred) > 0 {
		labels = t.labelsOf(b.Host)
	}
	for _, p := range s.Preferred {
		if !p.Set.MetBy(labels) {
			note(RelaxedNodeAffinity, fmt.Sprintf("weight %d: %s", p.Weight, p.Set))
		}
	}
	if c.Topology == nil {
		return
	}
	h := &t.s.Topology.Hosts[b.Host]
	for _, g := range c.Topology.Owns {
		group := &m.c.Topology[g]
		if group.Hard {
			continue
		}
		members, self := int32(0), int32(0)
		if group.At == topology.Hostname {
			members = h.Of(g).Members
		} else {
			members = topology.CountAt(t.s.Topology.Members[g], h.Domains[group.At])
		}
		if topology.Contains(c.Topology.In, g) {
			self = 1
		}
		switch {
		case group.Kind == topology.Anti && members > self:
			note(RelaxedPodAntiAffinity, fmt.Sprintf("weight %d: by %s", group.Weight, group.Key))
		case group.Kind == topology.Affinity && members <= self && t.s.Topology.Total[g] > self:
			note(RelaxedPodAffinity, fmt.Sprintf("weight %d: by %s", group.Weight, group.Key))
		case group.Kind == topology.Spread && members-t.emptiestOf(g, c) > group.MaxSkew:
			note(RelaxedSpread, fmt.Sprintf("maxSkew %d by %s", group.MaxSkew, group.Key))
		}
	}
}

// emptiestOf is the least number of members in any domain of the group as things stand.
func (t *Trial) emptiestOf(g int32, c *podclass.Class) int32 {
	if t.m.c.Topology[g].At != topology.Hostname {
		return t.s.Topology.Emptiest(g, c.Shape)
	}
	least := int32(-1)
	for i := range t.s.Topology.Hosts {
		if h := &t.s.Topology.Hosts[i]; !h.Gone && !h.Ignored(g) {
			if n := h.Of(g).Members; least < 0 || n < least {
				least = n
			}
		}
	}
	return max(least, 0)
}

// labelsOf are a host's labels, as far as any pod asks about them.
func (t *Trial) labelsOf(host int32) requirements.Set {
	if host < int32(len(t.m.c.Nodes)) {
		return t.m.c.Groups[t.m.c.Nodes[host].Group].Labels
	}
	mc := &t.s.Planned[host-int32(len(t.m.c.Nodes))]
	return state.DecidedLabels(t.m.c.Pools, t.m.c.AskedKeys, mc, &nodepool.Assignment{Labels: mc.Labels})
}

func (t *Trial) taintsOf(host int32) []corev1.Taint {
	if host < int32(len(t.m.c.Nodes)) {
		return t.m.c.Groups[t.m.c.Nodes[host].Group].Taints
	}
	return t.m.c.Pools[t.s.Planned[host-int32(len(t.m.c.Nodes))].Pool].Taints
}
