package explain

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/api/requirements"
	"github.com/drawknife/drawknife/internal/engine/match"
	"github.com/drawknife/drawknife/internal/engine/resources"
	"github.com/drawknife/drawknife/internal/engine/topology"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// maxNodeLooks limits the nodes that the method existing examines: after this number, summed over all classes, it is not called for further
// classes.
const maxNodeLooks = 4 << 20

// maxNodeTries is the maximum number of nodes per class for which the method existing checks whether topology rules would allow the pod
// after a change.
const maxNodeTries = 64

// maxExampleDims and maxExampleRules limit the text about an example node.
const maxExampleDims, maxExampleRules = 3, 3

// existing explains why no existing node can take the class. It counts the nodes by the first check that they fail. It adds an example node
// for each check, and the nearest miss.
func (x nodeFaults) existing() planning.Reason {
	n := &planning.RemovedNodes{Total: len(x.m.Nodes)}
	if n.Total == 0 {
		return planning.Reason{Code: planning.ReasonNoNodePools}
	}
	var best finding
	var two pairFinding
	var examples nodeExamples
	x.nodeLooks += n.Total
	x.tries = maxNodeTries
	for i := range x.m.Nodes {
		check, f := x.checkNode(int32(i))
		*n.Count(check)++
		examples.consider(check, int32(i), &f)
		if check != planning.NodeUnavailable && !x.brief {
			x.considerNode(&best, &two, int32(i), &f)
		}
	}
	n.Examples = x.examplesOf(&examples)
	if best.miss == nil {
		best.miss = two.miss
	}
	return planning.Reason{Code: planning.ReasonNoNodePools, Nodes: n, NearestMiss: best.miss}
}

// nodeFailings are the checks that a node of the snapshot fails for the class.
type nodeFailings struct {
	groupFailings
	// lacking lists resources of which the node has too little, at most maxExampleDims. dims is the number of all such resources.
	lacking [maxExampleDims]int
	dims    int
	// attach means that the node lacks only room for volumes.
	attach bool
}

// groupFailings are the checks that all nodes of a group fail.
type groupFailings struct {
	known, cordoned, tainted, volumes bool
	// unmet is the number of labels that don't meet the alternative closest to the node's labels. term is the index of this alternative.
	unmet, term int32
}

func (f *nodeFailings) count() int {
	n := int(f.unmet) + f.dims
	if f.tainted {
		n++
	}
	if f.volumes {
		n++
	}
	return n
}

// checkNode returns the first check that the node fails for the class, and all checks that it fails, except for topology.
func (x nodeFaults) checkNode(node int32) (planning.NodeCheck, nodeFailings) {
	if !x.t.S.Room.Usable.Has(int(node)) {
		return planning.NodeUnavailable, nodeFailings{}
	}
	f := nodeFailings{groupFailings: x.groupFails(x.m.Nodes[node].Group), attach: true}
	free := x.t.S.Room.Of(node)
	for d, need := range x.c.Requests {
		if need > 0 && need > free[d] {
			if f.dims < maxExampleDims {
				f.lacking[f.dims] = d
			}
			f.dims++
			f.attach = f.attach && resources.Attaches(x.m.Resources.Names[d])
		}
	}
	switch {
	case f.cordoned:
		return planning.NodeCordoned, f
	case f.tainted:
		return planning.NodeTaints, f
	case f.unmet > 0:
		return planning.NodeRequirements, f
	case f.volumes:
		return planning.NodeVolumes, f
	case f.dims > 0 && f.attach:
		return planning.NodeVolumeLimits, f
	case f.dims > 0:
		return planning.NodeResources, f
	case x.portTaken(node):
		return planning.NodeHostPorts, f
	case x.c.Topology != nil && !x.t.S.Topology.Admits(x.c.Topology, x.c.Shape, node):
		return planning.NodeTopology, f
	}
	return planning.NodeNotPlaced, f
}

// groupFails returns the checks that all nodes of the group fail.
func (x nodeFaults) groupFails(group int32) groupFailings {
	groups := x.groups[x.c.Shape]
	if groups == nil {
		groups = make([]groupFailings, len(x.m.Groups))
		x.groups[x.c.Shape] = groups
	}
	f := &groups[group]
	if f.known {
		return *f
	}
	g := &x.m.Groups[group]
	*f = groupFailings{known: true, volumes: !x.s.VolumesOn(g.Labels)}
	for i := range g.Taints {
		if match.Untolerated(x.s.Tolerations, g.Taints[i:i+1], true) != nil {
			f.tainted = true
			f.cordoned = f.cordoned || g.Taints[i].Key == corev1.TaintNodeUnschedulable
		}
	}
	for i, term := range x.s.Terms {
		unmet, last := int32(0), ""
		for _, r := range term {
			if !match.Meets(g.Labels, r) && r.Key() != last {
				unmet++
				last = r.Key()
			}
		}
		if i == 0 || unmet < f.unmet {
			f.unmet, f.term = unmet, int32(i)
		}
	}
	return *f
}

// taintsOf returns the node's taints that the pods don't tolerate.
func (x nodeFaults) taintsOf(node int32) []corev1.Taint {
	return intolerable(x.s.Tolerations, x.m.Groups[x.m.Nodes[node].Group].Taints)
}

// unmetOn returns the labels of the node that don't meet the alternative closest to the node's labels.
func (x nodeFaults) unmetOn(node int32, f *nodeFailings) []string {
	labels := x.m.Groups[x.m.Nodes[node].Group].Labels
	return match.Needs(slices.DeleteFunc(slices.Clone(x.s.Terms[f.term]), func(r requirements.Requirement) bool { return match.Meets(labels, r) })).Keys()
}

// portTaken reports whether a pod of the node uses a host port of the class.
func (x nodeFaults) portTaken(node int32) bool {
	h, o := x.hostOf(node), x.c.Topology
	return h != nil && o != nil && slices.ContainsFunc(o.In, func(g int32) bool {
		return x.m.Topology[g].Kind == topology.Exclusive && h.Of(g).Members > 0
	})
}

// considerNode stores the node in best if the node fails only one check or only topology rules. It stores the node in the parameter two if
// the node fails two checks and best is empty. It does so only if changes would give the pod a place on the node, and if the new miss is
// nearer than the stored one.
func (x nodeFaults) considerNode(best *finding, two *pairFinding, node int32, f *nodeFailings) {
	switch f.count() {
	case 0:
		h, name := x.hostOf(node), x.m.Nodes[node].Name
		if h == nil || x.tries <= 0 || !best.worth(planning.MissTopology) && best.miss.Code != planning.MissTopology {
			return
		}
		x.tries--
		for _, r := range rulesOf(x.m, x.c.Topology) {
			if miss := missesOf(x.explainer).unruled(best, &r, h.Domains, h.Of, 0); miss != nil {
				miss.Node = name
			}
		}
	case 1:
		codes, size := x.codesFor(node, f)
		if codes[0] != "" && best.nearer(codes[0], size, 0) && x.admitsChanged(node, f) {
			miss := x.changesFor(node, f)[0]
			miss.Node = x.m.Nodes[node].Name
			*best = finding{miss: miss, size: size}
		}
	case 2:
		codes, size := x.codesFor(node, f)
		if best.miss == nil && codes[1] != "" && two.nearer(codes[0], codes[1], size, 0) && x.admitsChanged(node, f) {
			misses := x.changesFor(node, f)
			misses[0].Node, misses[0].Also = x.m.Nodes[node].Name, misses[1]
			*two = pairFinding{finding{miss: misses[0], size: size}}
		}
	}
}

// codesFor returns the codes of the first two changes that changesFor returns, and the size of the changes.
func (x nodeFaults) codesFor(node int32, f *nodeFailings) (codes [2]planning.MissCode, size float64) {
	n := 0
	note := func(code planning.MissCode) {
		if n < len(codes) && code != "" {
			codes[n] = code
			n++
		}
	}
	if f.tainted {
		note(planning.MissToleration)
	}
	for range f.unmet {
		note(planning.MissLabel)
	}
	for _, d := range f.lacking[:min(f.dims, maxExampleDims)] {
		code, share := missesOf(x.explainer).cut(d, x.t.S.Room.Of(node)[d])
		note(code)
		size += share
	}
	return codes, size
}

// changesFor returns the changes that would correct the node's failings: first a toleration, then labels, then resources. There are fewer
// changes than failings if some failings can't be corrected. If volumes keep the pods off the node, a change is only possible if it is
// known on which nodes the volumes can be used.
func (x nodeFaults) changesFor(node int32, f *nodeFailings) (misses []*planning.NearestMiss) {
	if f.tainted {
		misses = append(misses, &planning.NearestMiss{Code: planning.MissToleration, Taints: x.taintsOf(node)})
	}
	var unmet []string
	if f.unmet > 0 {
		unmet = x.unmetOn(node, f)
	}
	for _, key := range unmet {
		miss := &planning.NearestMiss{Code: planning.MissLabel, Key: key}
		if value := match.OnlyValue(x.m.Groups[x.m.Nodes[node].Group].Labels.Get(key)); value != "" {
			miss.Values = []string{value}
		}
		missesOf(x.explainer).blameSystem(miss)
		misses = append(misses, miss)
	}
	for _, d := range f.lacking[:min(f.dims, maxExampleDims)] {
		have := x.t.S.Room.Of(node)[d]
		if code, _ := missesOf(x.explainer).cut(d, have); code != "" {
			misses = append(misses, missesOf(x.explainer).less(code, d, have))
		}
	}
	return misses
}

// admitsChanged reports whether topology rules would allow the pod on the node if its failings were corrected.
func (x nodeFaults) admitsChanged(node int32, f *nodeFailings) bool {
	if x.c.Topology == nil {
		return true
	}
	if x.tries <= 0 {
		return false
	}
	x.tries--
	h := x.hostOf(node)
	of, loosely := h.Of, f.dims == 0 || f.count() > 1
	if loosely {
		of = x.countsOfAllGroups(node)
	}
	return ruleFaultsOf(x.explainer).admitsAt(x.c.Topology, h.Domains, of, loosely)
}

// hostOf returns the node in the form that topology rules use, or nil if there are no rules.
func (x nodeFaults) hostOf(node int32) *topology.Host {
	if x.t.S.Topology == nil {
		return nil
	}
	return &x.t.S.Topology.Hosts[node]
}

// countsOfAllGroups returns the counts on a node as if no topology group ignored the node, because a spread of pods with other demands
// may count it.
func (x nodeFaults) countsOfAllGroups(node int32) func(group int32) topology.Tally {
	return func(group int32) topology.Tally {
		out := x.t.S.Topology.Hosts[node].Of(group)
		if x.m.Topology[group].Kind != topology.Spread {
			return out
		}
		out.Members = 0
		note := func(class, n int32) {
			if o := x.m.Classes[class].Topology; o != nil && topology.Contains(o.In, group) {
				out.Members += n
			}
		}
		for _, class := range podsOn(x.m, node) {
			note(class, 1)
		}
		for b := range x.t.S.Placed.On(node) {
			note(b.Class, b.Count)
		}
		return out
	}
}
