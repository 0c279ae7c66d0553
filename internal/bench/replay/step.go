package replay

import "github.com/drawknife/drawknife/internal/bench/judge"

// Round is what a planner found in one look at the fleet. Its steps are carried out in their order before the next look.
type Round struct {
	Steps []Step `json:"steps"`
}

// Step is one command: nodes to remove, nodes to launch before, and where the pods go.
type Step struct {
	// Method that found it, in the planner's words.
	Method string `json:"method"`
	// Removed are the names of the nodes.
	Removed []string `json:"removed"`
	// Launched nodes, with the pods that are planned for them.
	Launched []Launch `json:"launched,omitempty"`
	// Existing nodes that receive pods.
	Existing []judge.ExistingNode `json:"existing,omitempty"`
}

// Launch is a node that is launched: what the plan leaves open, and what was bought.
type Launch struct {
	// Name of the node, unique in the fleet.
	Name string `json:"name"`
	judge.NewNode
	// InstanceType, Zone and CapacityType bought: the cheapest available offering that the plan leaves open.
	InstanceType string `json:"instanceType"`
	Zone         string `json:"zone"`
	CapacityType string `json:"capacityType"`
}
