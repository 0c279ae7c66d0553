package replay

import "github.com/drawknife/drawknife/internal/bench/judge"

// Round is what a planner found in one search. Its steps are executed in order before the next search.
type Round struct {
	Steps []Step `json:"steps"`
}

// Step is one command: nodes to remove, nodes to launch before that, and where the pods go.
type Step struct {
	// Method that found it, as the planner calls it.
	Method string `json:"method"`
	// Removed are the names of the nodes.
	Removed []string `json:"removed"`
	// Launched nodes, with the pods that are planned for them.
	Launched []Launch `json:"launched,omitempty"`
	// Existing nodes that receive pods.
	Existing []judge.ExistingNode `json:"existing,omitempty"`
}

// Launch is a launched node: what the plan allows, and what was bought.
type Launch struct {
	// Name of the node, unique in the fleet.
	Name string `json:"name"`
	judge.NewNode
	// InstanceType, Zone and CapacityType bought: the cheapest available offering that the plan allows.
	InstanceType string `json:"instanceType"`
	Zone         string `json:"zone"`
	CapacityType string `json:"capacityType"`
}
