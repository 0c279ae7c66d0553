package main

// result is what is printed: what planning took, and what was planned.
type result struct {
	usage
	NewNodes      []newNode       `json:"newNodes"`
	Existing      []existingNode  `json:"existing"`
	Unschedulable []unschedulable `json:"unschedulable"`
	// Order lists the placed pods in the order the scheduler took them up in.
	Order []string `json:"order"`
}

// newNode is a machine to launch: any of the instance types, in any offering the requirements allow.
type newNode struct {
	Pool          string        `json:"pool"`
	Requirements  []requirement `json:"requirements"`
	InstanceTypes []string      `json:"instanceTypes"`
	// Pods as "namespace/name", in the order they were placed.
	Pods []string `json:"pods"`
}

type existingNode struct {
	Name string   `json:"name"`
	Pods []string `json:"pods"`
}

type unschedulable struct {
	Pod    string `json:"pod"`
	Reason string `json:"reason"`
}
