package main

// result is what the program prints: the measurements and the plan.
type result struct {
	usage
	NewNodes      []newNode       `json:"newNodes"`
	Existing      []existingNode  `json:"existing"`
	Unschedulable []unschedulable `json:"unschedulable"`
	// Order lists the placed pods in the order in which the scheduler handled them.
	Order []string `json:"order"`
}

// newNode is a node to launch. It may have any of the instance types, with any offering that the requirements allow.
type newNode struct {
	Pool          string        `json:"pool"`
	Requirements  []requirement `json:"requirements"`
	InstanceTypes []string      `json:"instanceTypes"`
	// Pods are the pods as "namespace/name", in the order in which they were placed.
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

// look is the result of one search for commands: one line of a consolidation's output.
type look struct {
	// the usage so far, including this search
	usage
	Steps []step `json:"steps"`
	// Timeouts is how many searches so far were stopped at their time limit.
	Timeouts int `json:"timeouts"`
	// Done means that the search found nothing, and that this line is the last one.
	Done bool `json:"done,omitempty"`
}

// step is one command: nodes to remove, nodes to launch before that, and the new places of pods.
type step struct {
	Method   string         `json:"method"`
	Removed  []string       `json:"removed"`
	Launched []launch       `json:"launched,omitempty"`
	Existing []existingNode `json:"existing,omitempty"`
}

// launch is a launched node, and the offering with which it was bought.
type launch struct {
	Name string `json:"name"`
	newNode
	InstanceType string `json:"instanceType"`
	Zone         string `json:"zone"`
	CapacityType string `json:"capacityType"`
}
