package planning

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// NodeCheck is a check that a node fails for a pod. Values are stable, and listed in the order in which a node's checks
// are looked at.
type NodeCheck string

const (
	// NodeUnavailable: the node takes no pods: it is leaving, hidden, or holds more than it has room for.
	NodeUnavailable NodeCheck = "Unavailable"
	// NodeCordoned: the node is cordoned.
	NodeCordoned NodeCheck = "Cordoned"
	// NodeTaints: the pod does not tolerate a taint of the node.
	NodeTaints NodeCheck = "Taints"
	// NodeRequirements: the node's labels don't meet the pod's requirements.
	NodeRequirements NodeCheck = "Requirements"
	// NodeVolumes: the pod's volumes can't be used there.
	NodeVolumes NodeCheck = "Volumes"
	// NodeVolumeLimits: the node can't attach as many volumes of a CSI driver.
	NodeVolumeLimits NodeCheck = "VolumeLimits"
	// NodeResources: what is free is too little.
	NodeResources NodeCheck = "Resources"
	// NodeHostPorts: another pod has a host port that the pod asks for.
	NodeHostPorts NodeCheck = "HostPorts"
	// NodeTopology: topology rules keep the pod off.
	NodeTopology NodeCheck = "Topology"
	// NodeNotPlaced: the node would do for the pod alone, but the plan does not put it there.
	NodeNotPlaced NodeCheck = "NotPlaced"
)

// NodeChecks are all of them, in their order.
func NodeChecks() [10]NodeCheck {
	return [...]NodeCheck{NodeUnavailable, NodeCordoned, NodeTaints, NodeRequirements, NodeVolumes, NodeVolumeLimits, NodeResources, NodeHostPorts, NodeTopology, NodeNotPlaced}
}

// words say what so many nodes that fail the check are or do.
func (c NodeCheck) words(n int) string {
	one, more := "fails check "+string(c), "fail check "+string(c)
	switch c {
	case NodeUnavailable:
		one, more = "takes no pods", "take no pods"
	case NodeCordoned:
		one, more = "is cordoned", "are cordoned"
	case NodeTaints:
		one, more = "has taints it does not tolerate", "have taints it does not tolerate"
	case NodeRequirements:
		one, more = "does not meet the requirements", "don't meet the requirements"
	case NodeVolumes:
		one, more = "can't have its volumes", "can't have its volumes"
	case NodeVolumeLimits:
		one, more = "can't attach as many volumes", "can't attach as many volumes"
	case NodeResources:
		one, more = "has too little room", "have too little room"
	case NodeHostPorts:
		one, more = "has its host port taken", "have its host port taken"
	case NodeTopology:
		one, more = "is kept out by topology rules", "are kept out by topology rules"
	case NodeNotPlaced:
		one, more = "would do for the pod alone", "would do for the pod alone"
	}
	if n == 1 {
		return one
	}
	return more
}

// RemovedNodes counts nodes of the snapshot by the first check that ruled them out for a pod, in the order of the
// fields after Total.
type RemovedNodes struct {
	// Total is how many nodes were looked at.
	Total int `json:"total"`
	// Unavailable: the node takes no pods: it is leaving, hidden, or holds more than it has room for.
	Unavailable int `json:"unavailable,omitempty"`
	// Cordoned: spec.unschedulable is set.
	Cordoned int `json:"cordoned,omitempty"`
	// Taints: the pod does not tolerate one.
	Taints int `json:"taints,omitempty"`
	// Requirements: the labels don't meet the pod's requirements.
	Requirements int `json:"requirements,omitempty"`
	// Volumes: the pod's volumes can't be used there.
	Volumes int `json:"volumes,omitempty"`
	// VolumeLimits: the node can't attach as many volumes of a CSI driver; other resources would do.
	VolumeLimits int `json:"volumeLimits,omitempty"`
	// Resources: what is free is too little.
	Resources int `json:"resources,omitempty"`
	// HostPorts: another pod has the host port.
	HostPorts int `json:"hostPorts,omitempty"`
	// Topology: topology rules keep the pod off.
	Topology int `json:"topology,omitempty"`
	// NotPlaced: the node would do for the pod alone, but the plan does not put it there.
	NotPlaced int `json:"notPlaced,omitempty"`
	// Examples has a node for each check that some node fails first, in the order of the fields above: the first of those that fail
	// the fewest others.
	Examples []NodeExample `json:"examples,omitempty"`
}

// NodeExample is a node that does not take a pod, with what the check found.
type NodeExample struct {
	Check NodeCheck `json:"check"`
	Node  string    `json:"node"`
	// Taints that the pod does not tolerate, with NodeTaints.
	Taints []corev1.Taint `json:"taints,omitempty"`
	// Key of a label that does not meet the requirements and its Value on the node, empty where the node lacks it.
	Key   string `json:"key,omitempty"`
	Value string `json:"value,omitempty"`
	// Requests that are too large and what is Free of these resources, with NodeResources and NodeVolumeLimits. Volumes
	// stand under "attachable-volumes-csi-<driver>".
	Requests corev1.ResourceList `json:"requests,omitempty"`
	Free     corev1.ResourceList `json:"free,omitempty"`
	// Rules that keep the pod off, with NodeHostPorts and NodeTopology.
	Rules []Rule `json:"rules,omitempty"`
	// Detail says why the node takes no pods, with NodeUnavailable.
	Detail string `json:"detail,omitempty"`
	// Also is what the later checks find on the same node, at most six; each label that does not meet the requirements is one. They
	// have no Node.
	Also []NodeExample `json:"also,omitempty"`
}

// String names the node, and says what the checks found.
func (e NodeExample) String() string {
	between := ": "
	if e.Detail != "" || e.Key != "" && e.Value == "" {
		between = " "
	}
	text := joined(e.Node, between, e.found())
	for i := range e.Also {
		other := &e.Also[i]
		text += "; also "
		if found := other.found(); found != "" {
			text += found
		} else {
			text += other.Check.words(1)
		}
	}
	return text
}

// found is what the check found; empty where the check says it all.
func (e NodeExample) found() string {
	switch {
	case e.Detail != "":
		return e.Detail
	case len(e.Taints) > 0:
		return taintsString(e.Taints)
	case e.Key != "" && e.Value == "":
		return "has no label " + e.Key
	case e.Key != "":
		return inWords("", e.Key) + " is " + e.Value
	case len(e.Requests) > 0:
		var parts []string
		for _, name := range slices.Sorted(maps.Keys(e.Requests)) {
			wants, has := e.Requests[name], e.Free[name]
			what := string(name)
			if driver, ok := strings.CutPrefix(what, AttachedVolumesPrefix); ok {
				what = "volumes of " + driver
			}
			parts = append(parts, fmt.Sprintf("%s %s free, %s asked for", has.String(), what, wants.String()))
		}
		return strings.Join(parts, ", ")
	case len(e.Rules) > 0:
		return rulesString(e.Rules, "; ")
	}
	return ""
}

// Count is the counter of a check.
func (n *RemovedNodes) Count(c NodeCheck) *int {
	switch c {
	case NodeUnavailable:
		return &n.Unavailable
	case NodeCordoned:
		return &n.Cordoned
	case NodeTaints:
		return &n.Taints
	case NodeRequirements:
		return &n.Requirements
	case NodeVolumes:
		return &n.Volumes
	case NodeVolumeLimits:
		return &n.VolumeLimits
	case NodeResources:
		return &n.Resources
	case NodeHostPorts:
		return &n.HostPorts
	case NodeTopology:
		return &n.Topology
	}
	return &n.NotPlaced
}

// sentence is "of 5 existing nodes, 2 are cordoned (n1), …"; empty without nodes.
func (n *RemovedNodes) sentence() string {
	if n == nil || n.Total == 0 {
		return ""
	}
	var parts []string
	for _, c := range NodeChecks() {
		count := *n.Count(c)
		if count == 0 {
			continue
		}
		part := fmt.Sprintf("%d %s", count, c.words(count))
		for _, e := range n.Examples {
			if e.Check == c {
				part += " (" + e.String() + ")"
			}
		}
		parts = append(parts, part)
	}
	nodes := "nodes"
	if n.Total == 1 {
		nodes = "node"
	}
	return fmt.Sprintf("of %d existing %s, %s", n.Total, nodes, strings.Join(parts, ", "))
}

func rulesString(rules []Rule, separator string) string {
	parts := make([]string, len(rules))
	for i := range rules {
		parts[i] = rules[i].String()
	}
	return strings.Join(parts, separator)
}

// maxTaintWords bounds how many taints a sentence names.
const maxTaintWords = 4

func taintsString(taints []corev1.Taint) string {
	parts := make([]string, 0, maxTaintWords+1)
	for i := range taints {
		if i == maxTaintWords {
			parts = append(parts, fmt.Sprintf("%d more", len(taints)-i))
			break
		}
		parts = append(parts, TaintString(taints[i]))
	}
	return strings.Join(parts, ", ")
}
