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

// newNode is a node to launch: any of the instance types, in any offering the requirements allow.
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

// look is a line of what a consolidation prints: what one look at the fleet came to.
type look struct {
	// usage so far, this look included.
	usage
	Steps []step `json:"steps"`
	// Timeouts is how often a search was broken off for lack of time so far.
	Timeouts int `json:"timeouts"`
	// Done tells that nothing was found, and that this line is the last.
	Done bool `json:"done,omitempty"`
}

// step is one command: nodes to remove, nodes to launch before, and where the pods go.
type step struct {
	Method   string         `json:"method"`
	Removed  []string       `json:"removed"`
	Launched []launch       `json:"launched,omitempty"`
	Existing []existingNode `json:"existing,omitempty"`
}

// launch is a node that is launched, with what was bought.
type launch struct {
	Name string `json:"name"`
	newNode
	InstanceType string `json:"instanceType"`
	Zone         string `json:"zone"`
	CapacityType string `json:"capacityType"`
}
