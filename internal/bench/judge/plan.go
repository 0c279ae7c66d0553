package judge

import (
	v1 "github.com/drawknife/drawknife/api/v1"
)

// Plan is a plan of any planner, in types that do not depend on the planner. Each pod is identified by "namespace/name".
type Plan struct {
	NewNodes      []NewNode       `json:"newNodes"`
	Existing      []ExistingNode  `json:"existing"`
	Unschedulable []Unschedulable `json:"unschedulable"`
	// Order lists the placed pods in an order in which they can be bound. It is empty if the planner knows no such order.
	Order []string `json:"order,omitempty"`
}

// NewNode is a node to launch. It may be of any of the instance types, with any offering that the requirements allow.
type NewNode struct {
	Pool          string                                    `json:"pool"`
	Requirements  []v1.NodeSelectorRequirementWithMinValues `json:"requirements"`
	InstanceTypes []string                                  `json:"instanceTypes"`
	Pods          []string                                  `json:"pods"`
}

// ExistingNode is a node of the workload that receives pods.
type ExistingNode struct {
	Name string   `json:"name"`
	Pods []string `json:"pods"`
}

// Unschedulable is a pod that the plan places on no node.
type Unschedulable struct {
	Pod    string `json:"pod"`
	Reason string `json:"reason"`
}

// Verdict is the evaluation of a plan.
type Verdict struct {
	// Nodes is the number of nodes to launch.
	Nodes int
	// Unschedulable is the number of pods that the plan leaves out.
	Unschedulable int
	// HourlyCost is the sum of the prices of the nodes that the judge launched, in USD per hour.
	HourlyCost float64
	// Refusals are the placements that a cluster would refuse, and all other faults of the plan. It is nil for a valid plan.
	Refusals []string
}
