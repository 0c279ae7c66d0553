package scheduling

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/internal/engine/match"
	"github.com/drawknife/drawknife/internal/engine/resources"
	"github.com/drawknife/drawknife/internal/engine/topology"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// maxExampleFaults bounds NodeExample.Also.
const maxExampleFaults = 6

// nodeExamples keep, for each of NodeChecks, the node that fails the fewest others.
type nodeExamples [10]struct {
	node     int32
	failings nodeFailings
	known    bool
}

// consider takes the node as the example of the check if it has fewer failings than the one there was.
func (n *nodeExamples) consider(check NodeCheck, node int32, f *nodeFailings) {
	checks := planning.NodeChecks()
	e := &n[slices.Index(checks[:], check)]
	if !e.known || f.count() < e.failings.count() {
		e.node, e.failings, e.known = node, *f, true
	}
}

// examplesOf are the examples, with all that keeps the pods off each of them.
func (x *explainer) examplesOf(n *nodeExamples) (out []NodeExample) {
	for i, check := range planning.NodeChecks() {
		if e := &n[i]; e.known {
			out = append(out, x.example(e.node, check, &e.failings))
		}
	}
	return out
}

// example says what the check found on the node, and in Also what the checks after it find.
func (x *explainer) example(node int32, check NodeCheck, f *nodeFailings) NodeExample {
	e := NodeExample{Check: check, Node: x.m.c.Nodes[node].Name}
	if check == NodeUnavailable {
		switch n := &x.m.c.Nodes[node]; {
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

// faults are all that keeps the pods off the node, in the order of the checks; without the node's name.
func (x *explainer) faults(node int32, f *nodeFailings) (out []NodeExample) {
	if f.cordoned {
		out = append(out, NodeExample{Check: NodeCordoned})
	}
	if taints := x.taintsOf(node); len(taints) > 0 {
		cordon := func(t corev1.Taint) bool { return t.Key == corev1.TaintNodeUnschedulable }
		if taints = slices.DeleteFunc(slices.Clone(taints), cordon); len(taints) > 0 {
			out = append(out, NodeExample{Check: NodeTaints, Taints: taints})
		}
	}
	if f.unmet > 0 {
		for _, key := range x.unmetOn(node, f) {
			value := match.OnlyValue(x.m.c.Groups[x.m.c.Nodes[node].Group].Labels.Get(key))
			out = append(out, NodeExample{Check: NodeRequirements, Key: key, Value: value})
		}
	}
	if f.volumes {
		out = append(out, NodeExample{Check: NodeVolumes})
	}
	if f.dims > 0 {
		out = append(out, x.tooSmall(node, f))
	}
	if x.portTaken(node) {
		out = append(out, NodeExample{Check: NodeHostPorts, Rules: x.refusingOn(node, NodeHostPorts, false)})
	}
	return x.topologyFault(node, out)
}

// topologyFault adds what topology rules say of the node to its other faults, or that it has none. What spread says of a node that it
// takes no notice of may change with these faults.
func (x *explainer) topologyFault(node int32, faults []NodeExample) []NodeExample {
	refused := x.c.Topology != nil && !x.t.s.Topology.Admits(x.c.Topology, x.c.Shape, node)
	switch {
	case !refused && len(faults) == 0:
		return []NodeExample{{Check: NodeNotPlaced}}
	case !refused:
		return faults
	}
	rules := x.refusingOn(node, NodeTopology, len(faults) > 0)
	if len(rules) > 0 || len(faults) == 0 {
		faults = append(faults, NodeExample{Check: NodeTopology, Rules: rules})
	}
	return faults
}

// tooSmall is the fault of a node with too little room, or with too little for volumes alone.
func (x *explainer) tooSmall(node int32, f *nodeFailings) NodeExample {
	e := NodeExample{Check: NodeResources, Requests: corev1.ResourceList{}, Free: corev1.ResourceList{}}
	if f.attach {
		e.Check = NodeVolumeLimits
	}
	for _, d := range f.lacking[:min(f.dims, maxExampleDims)] {
		name := x.m.c.Resources.Names[d]
		e.Requests[name], e.Free[name] = resources.Quantity(name, x.c.Requests[d]), resources.Quantity(name, x.t.s.FreeOf(node)[d])
	}
	return e
}

// refusingOn are the rules that by themselves keep the pods off the node: of host ports, or all others; noticed leaves out spread that
// takes no notice of the node.
func (x *explainer) refusingOn(node int32, check NodeCheck, noticed bool) []Rule {
	h := x.hostOf(node)
	if h == nil || x.c.Topology == nil {
		return nil
	}
	var out []Rule
	rules := x.m.rulesOf(x.c.Topology)
	for i := range rules {
		r := &rules[i]
		if (r.kind == topology.Exclusive) != (check == NodeHostPorts) || len(out) == maxExampleRules ||
			noticed && r.kind == topology.Spread && h.Ignored(r.groups[0]) || x.admitsAt(r.aloneIn(x.c.Topology, x.m), h.Domains, h.Of, false) {
			continue
		}
		rule := x.described(r)
		if r.kind == topology.Exclusive || r.kind == topology.Anti {
			rule.Holders = x.holdersOn(r, node, nil)
		}
		out = append(out, rule)
	}
	return out
}
