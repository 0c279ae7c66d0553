package scheduling

import (
	corev1 "k8s.io/api/core/v1"
)

// existing is why none of the machines there are takes the class: counts by first failing check, and the machine that
// comes nearest.
func (x *explainer) existing() Reason {
	n := &RemovedNodes{Total: len(x.m.nodes)}
	if n.Total == 0 {
		return Reason{Code: ReasonNoNodePools}
	}
	var best finding
	for i := range x.m.nodes {
		if !x.t.usable.has(i) {
			n.Unavailable++
			continue
		}
		f := x.nodeFails(int32(i))
		switch {
		case len(f.taints) > 0:
			n.Taints++
		case f.keys > 0:
			n.Requirements++
		case f.volumes:
			n.Volumes++
		case f.dims > 0:
			n.Resources++
		default:
			n.Topology++
		}
		x.considerNode(&best, int32(i), &f)
	}
	return Reason{Code: ReasonNoNodePools, Nodes: n, NearestMiss: best.miss}
}

// nodeFailings are the checks that a machine of the snapshot fails.
type nodeFailings struct {
	taints []corev1.Taint
	// keys is how many labels don't meet the alternative that comes nearest; key is one of them.
	keys    int
	key     string
	volumes bool
	// dims is how many resources it has too little of; dim is one of them.
	dims, dim int
}

func (f *nodeFailings) count() int {
	n := f.keys + f.dims
	if len(f.taints) > 0 {
		n++
	}
	if f.volumes {
		n++
	}
	return n
}

func (x *explainer) nodeFails(node int32) nodeFailings {
	var f nodeFailings
	g := &x.m.groups[x.m.nodes[node].group]
	f.taints = intolerable(x.s.tolerations, g.taints)
	for i, term := range x.s.terms {
		unmet := 0
		last := ""
		for _, r := range term {
			if !meets(g.labels, r) && r.Key() != last {
				unmet++
				last = r.Key()
			}
		}
		if i == 0 || unmet < f.keys {
			f.keys, f.key = unmet, last
		}
	}
	f.volumes = !x.s.volumes.onExisting(g)
	for d, have := range x.t.freeOf(node) {
		if x.c.requests[d] > have {
			f.dims++
			f.dim = d
		}
	}
	return f
}

// considerNode takes the machine as a finding if it fails a single check.
func (x *explainer) considerNode(best *finding, node int32, f *nodeFailings) {
	if x.brief || f.count() > 1 {
		return
	}
	h, name := x.hostOf(node), x.m.nodes[node].name
	if f.count() == 0 {
		for _, r := range x.m.rulesOf(x.c.topology) {
			if miss := x.unruled(best, &r, h.domains, h.of, 0); miss != nil {
				miss.Node = name
			}
		}
		return
	}
	miss, size := &NearestMiss{Node: name}, 0.0
	switch {
	case len(f.taints) > 0:
		miss.Code, miss.Taints = MissToleration, f.taints
	case f.keys > 0:
		miss.Code, miss.Key = MissLabel, f.key
		if value := onlyValue(x.m.groups[x.m.nodes[node].group].labels.Get(f.key)); value != "" {
			miss.Values = []string{value}
		}
	case f.dims > 0:
		have := x.t.freeOf(node)[f.dim]
		if miss.Code, size = x.cut(f.dim, have); miss.Code == "" {
			return
		}
		miss = x.less(miss.Code, f.dim, have)
		miss.Node = name
	default:
		return // of volumes only those could tell who know where else they can be
	}
	if !best.nearer(miss.Code, size, 0) {
		return
	}
	if x.c.topology != nil {
		of, loosely := h.of, f.dims == 0
		if loosely {
			of = x.countsWhoeverNotices(node)
		}
		if !x.admitsAt(x.c.topology, h.domains, of, loosely) {
			return
		}
	}
	*best = finding{miss: miss, size: size}
}

// hostOf is what topology rules know of a machine; nil without any.
func (x *explainer) hostOf(node int32) *hostState {
	if x.t.topology == nil {
		return nil
	}
	return &x.t.topology.hosts[node]
}

// countsWhoeverNotices are the counts on a machine as if no group ignored it: a spread rule of pods with other demands
// may take notice of it.
func (x *explainer) countsWhoeverNotices(node int32) func(group int32) tally {
	return func(group int32) tally {
		out := x.t.topology.hosts[node].of(group)
		if x.m.topology[group].kind != kindSpread {
			return out
		}
		out.members = 0
		note := func(class, n int32) {
			if o := x.m.classes[class].topology; o != nil && contains(o.in, group) {
				out.members += n
			}
		}
		for _, class := range x.m.podsOn(node) {
			note(class, 1)
		}
		for _, b := range x.t.placed {
			if b.host == node {
				note(b.class, b.count)
			}
		}
		return out
	}
}
