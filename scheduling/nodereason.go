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
	for i := range g.taints {
		if taint := untolerated(x.s.tolerations, g.taints[i:i+1], true); taint != nil {
			f.taints = append(f.taints, *taint)
		}
	}
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
	miss, size, name := NearestMiss{}, 0.0, x.m.nodes[node].name
	if f.count() == 0 {
		if x.c.topology == nil {
			return
		}
		h := &x.t.topology.hosts[node]
		for _, r := range x.m.rulesOf(x.c.topology) {
			if miss, size, ok := x.unruled(best, &r, h.domains, h.of, 0); ok {
				miss.Node = name
				*best = finding{miss: &miss, size: size}
			}
		}
		return
	}
	switch {
	case len(f.taints) > 0:
		miss = NearestMiss{Code: MissToleration, Taints: f.taints}
	case f.keys > 0:
		miss = NearestMiss{Code: MissLabel, Key: f.key}
		if value := onlyValue(x.m.groups[x.m.nodes[node].group].labels.Get(f.key)); value != "" {
			miss.Values = []string{value}
		}
	case f.dims > 0:
		miss, size = x.lessOf(f.dim, x.t.freeOf(node)[f.dim])
	default:
		return // of volumes only those could tell who know where else they can be
	}
	if miss.Code == "" || !best.nearer(miss.Code, size, 0) {
		return
	}
	if o := x.c.topology; o != nil {
		h := &x.t.topology.hosts[node]
		if !x.admitsAt(o, h.domains, h.of, miss.Code != MissResources && miss.Code != MissResourceGivenUp) {
			return
		}
	}
	miss.Node = name
	*best = finding{miss: &miss, size: size}
}
