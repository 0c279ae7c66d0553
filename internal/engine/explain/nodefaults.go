package explain

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/internal/engine/match"
	"github.com/drawknife/drawknife/internal/engine/resources"
	"github.com/drawknife/drawknife/internal/engine/topology"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// maxExampleFaults limits NodeExample.Also.
const maxExampleFaults = 6

// nodeExamples contains, for each of NodeChecks, a node that fails this check and the fewest other checks.
type nodeExamples [10]struct {
	node     int32
	failings nodeFailings
	known    bool
}

// consider makes the node the example of the check if it fails fewer checks than the current example.
func (n *nodeExamples) consider(check planning.NodeCheck, node int32, f *nodeFailings) {
	checks := planning.NodeChecks()
	e := &n[slices.Index(checks[:], check)]
	if !e.known || f.count() < e.failings.count() {
		e.node, e.failings, e.known = node, *f, true
	}
}

// examplesOf returns the examples, each with all reasons that keep the pods off the node.
func (x nodeFaults) examplesOf(n *nodeExamples) (out []planning.NodeExample) {
	for i, check := range planning.NodeChecks() {
		if e := &n[i]; e.known {
			out = append(out, x.example(e.node, check, &e.failings))
		}
	}
	return out
}

// example describes how the node fails the check. The example's field Also describes the later checks that the node fails.
func (x nodeFaults) example(node int32, check planning.NodeCheck, f *nodeFailings) planning.NodeExample {
	e := planning.NodeExample{Check: check, Node: x.m.Nodes[node].Name}
	if check == planning.NodeUnavailable {
		switch n := &x.m.Nodes[node]; {
		case n.Source.Leaving:
			e.Detail = "is leaving"
		case !n.Usable:
			e.Detail = "has more bound to it than it has room for"
		}
		return e
	}
	faults := x.faults(node, f)
	if len(faults) == 0 {
		return e
	}
	first := faults[0]
	first.Node = e.Node
	first.Also = slices.Clip(faults[1:min(len(faults), maxExampleFaults+1)])
	return first
}

// faults returns all reasons that keep the pods off the node, in the order of the checks. It does not set the node's name.
func (x nodeFaults) faults(node int32, f *nodeFailings) (out []planning.NodeExample) {
	if f.cordoned {
		out = append(out, planning.NodeExample{Check: planning.NodeCordoned})
	}
	if taints := x.taintsOf(node); len(taints) > 0 {
		cordon := func(t corev1.Taint) bool { return t.Key == corev1.TaintNodeUnschedulable }
		if taints = slices.DeleteFunc(slices.Clone(taints), cordon); len(taints) > 0 {
			out = append(out, planning.NodeExample{Check: planning.NodeTaints, Taints: taints})
		}
	}
	if f.unmet > 0 {
		for _, key := range x.unmetOn(node, f) {
			value := match.OnlyValue(x.m.Groups[x.m.Nodes[node].Group].Labels.Get(key))
			out = append(out, planning.NodeExample{Check: planning.NodeRequirements, Key: key, Value: value})
		}
	}
	if f.volumes {
		out = append(out, planning.NodeExample{Check: planning.NodeVolumes})
	}
	if f.dims > 0 {
		out = append(out, x.tooSmall(node, f))
	}
	if x.portTaken(node) {
		out = append(out, planning.NodeExample{Check: planning.NodeHostPorts, Rules: x.refusingOn(node, planning.NodeHostPorts, false)})
	}
	return x.topologyFault(node, out)
}

// topologyFault adds the topology rules that exclude the node to its other faults. If the node has no faults at all, it returns
// NodeNotPlaced. If the node has other faults, spreads that ignore it now are left out, because they may count it after those faults are
// corrected.
func (x nodeFaults) topologyFault(node int32, faults []planning.NodeExample) []planning.NodeExample {
	refused := x.c.Topology != nil && !x.t.S.Topology.Admits(x.c.Topology, x.c.Shape, node)
	switch {
	case !refused && len(faults) == 0:
		return []planning.NodeExample{{Check: planning.NodeNotPlaced}}
	case !refused:
		return faults
	}
	rules := x.refusingOn(node, planning.NodeTopology, len(faults) > 0)
	if len(rules) > 0 || len(faults) == 0 {
		faults = append(faults, planning.NodeExample{Check: planning.NodeTopology, Rules: rules})
	}
	return faults
}

// tooSmall returns the fault of a node that has too little room: NodeVolumeLimits if it lacks only room for volumes, otherwise
// NodeResources.
func (x nodeFaults) tooSmall(node int32, f *nodeFailings) planning.NodeExample {
	e := planning.NodeExample{Check: planning.NodeResources, Requests: corev1.ResourceList{}, Free: corev1.ResourceList{}}
	if f.attach {
		e.Check = planning.NodeVolumeLimits
	}
	for _, d := range f.lacking[:min(f.dims, maxExampleDims)] {
		name := x.m.Resources.Names[d]
		e.Requests[name], e.Free[name] = resources.Quantity(name, x.c.Requests[d]), resources.Quantity(name, x.t.S.Room.Of(node)[d])
	}
	return e
}

// refusingOn returns the rules that, each alone, would keep the pods off the node. If the check is NodeHostPorts, it returns only rules
// about host ports, otherwise only other rules. If noticed is set, it leaves out spreads that ignore the node.
func (x nodeFaults) refusingOn(node int32, check planning.NodeCheck, noticed bool) []planning.Rule {
	h := x.hostOf(node)
	if h == nil || x.c.Topology == nil {
		return nil
	}
	var out []planning.Rule
	rules := rulesOf(x.m, x.c.Topology)
	for i := range rules {
		r := &rules[i]
		if (r.kind == topology.Exclusive) != (check == planning.NodeHostPorts) || len(out) == maxExampleRules ||
			noticed && r.kind == topology.Spread && h.Ignored(r.groups[0]) || ruleFaultsOf(x.explainer).admitsAt(r.aloneIn(x.c.Topology, x.m), h.Domains, h.Of, false) {
			continue
		}
		rule := ruleFaultsOf(x.explainer).described(r)
		if r.kind == topology.Exclusive || r.kind == topology.Anti {
			rule.Holders = ruleFaultsOf(x.explainer).holdersOn(r, node, nil)
		}
		out = append(out, rule)
	}
	return out
}
