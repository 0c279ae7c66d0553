package planning

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// NodeCheck is a check that a node can fail for a pod. Values are stable, and listed in the order of the checks.
type NodeCheck string

const (
	// NodeUnavailable: the node accepts no pods, because it is leaving, hidden, or overcommitted.
	NodeUnavailable NodeCheck = "Unavailable"
	// NodeCordoned: the node is cordoned.
	NodeCordoned NodeCheck = "Cordoned"
	// NodeTaints: the pod does not tolerate a taint of the node.
	NodeTaints NodeCheck = "Taints"
	// NodeRequirements: the node's labels don't meet the pod's requirements.
	NodeRequirements NodeCheck = "Requirements"
	// NodeVolumes: the pod's volumes can't be used on the node.
	NodeVolumes NodeCheck = "Volumes"
	// NodeVolumeLimits: the node can't attach as many volumes of a CSI driver.
	NodeVolumeLimits NodeCheck = "VolumeLimits"
	// NodeResources: the free resources are too small.
	NodeResources NodeCheck = "Resources"
	// NodeHostPorts: another pod uses a host port of the pod.
	NodeHostPorts NodeCheck = "HostPorts"
	// NodeTopology: topology rules exclude the pod.
	NodeTopology NodeCheck = "Topology"
	// NodeNotPlaced: the node would suit the pod alone, but the plan does not place it there.
	NodeNotPlaced NodeCheck = "NotPlaced"
)

// NodeChecks returns all checks, in the order in which they are made.
func NodeChecks() [10]NodeCheck {
	return [...]NodeCheck{NodeUnavailable, NodeCordoned, NodeTaints, NodeRequirements, NodeVolumes, NodeVolumeLimits, NodeResources, NodeHostPorts, NodeTopology, NodeNotPlaced}
}

// words returns a text about n nodes that fail the check.
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

// RemovedNodes counts nodes of the snapshot by the first check that they failed for a pod, in the order of the fields after Total.
type RemovedNodes struct {
	// Total is the number of nodes examined.
	Total int `json:"total"`
	// Unavailable: the node accepts no pods, because it is leaving, hidden, or overcommitted.
	Unavailable int `json:"unavailable,omitempty"`
	// Cordoned: spec.unschedulable is set.
	Cordoned int `json:"cordoned,omitempty"`
	// Taints: the pod does not tolerate one of the node's taints.
	Taints int `json:"taints,omitempty"`
	// Requirements: the labels don't meet the pod's requirements.
	Requirements int `json:"requirements,omitempty"`
	// Volumes: the pod's volumes can't be used on the node.
	Volumes int `json:"volumes,omitempty"`
	// VolumeLimits: the node can't attach as many volumes of a CSI driver, but its other resources are sufficient.
	VolumeLimits int `json:"volumeLimits,omitempty"`
	// Resources: the free resources are too small.
	Resources int `json:"resources,omitempty"`
	// HostPorts: another pod on the node uses a host port of the pod.
	HostPorts int `json:"hostPorts,omitempty"`
	// Topology: topology rules exclude the pod.
	Topology int `json:"topology,omitempty"`
	// NotPlaced: the node would suit the pod alone, but the plan does not place it there.
	NotPlaced int `json:"notPlaced,omitempty"`
	// Examples has one example node for each of the fields above that counts nodes, in their order. From the nodes of a field, it is the
	// first node with the fewest other failed checks.
	Examples []NodeExample `json:"examples,omitempty"`
}

// NodeExample is a node that does not take a pod, with the result of the check.
type NodeExample struct {
	Check NodeCheck `json:"check"`
	Node  string    `json:"node"`
	// Taints that the pod does not tolerate. Set only for the check NodeTaints.
	Taints []corev1.Taint `json:"taints,omitempty"`
	// Key of a label that does not meet the requirements, and its Value on the node. Value is empty if the node lacks the label.
	Key   string `json:"key,omitempty"`
	Value string `json:"value,omitempty"`
	// Requests that are too large, and the Free amounts of these resources. Set only for the checks NodeResources and NodeVolumeLimits.
	// Volumes are listed as "attachable-volumes-csi-<driver>".
	Requests corev1.ResourceList `json:"requests,omitempty"`
	Free     corev1.ResourceList `json:"free,omitempty"`
	// Rules that exclude the pod. Set only for the checks NodeHostPorts and NodeTopology.
	Rules []Rule `json:"rules,omitempty"`
	// Detail says why the node takes no pods. Set only for the check NodeUnavailable.
	Detail string `json:"detail,omitempty"`
	// Also contains the results of later checks on the same node, at most six. Each label that does not meet the requirements is a separate
	// result. They have no Node.
	Also []NodeExample `json:"also,omitempty"`
}

// String names the node and the results of the checks.
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

// found describes the details of the result of the node's check, or returns "" if the name of the check is sufficient.
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

// Count returns the counter of a check.
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

// sentence returns a text such as "of 5 existing nodes, 2 are cordoned (n1), …", or "" if there are no nodes.
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

// maxTaintWords is the largest number of taints that a sentence names.
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
