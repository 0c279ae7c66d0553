package replay

import "github.com/drawknife/drawknife/internal/bench/judge"

// Round has the steps that a planner found in one search. The steps are executed in this order before the next search.
type Round struct {
	Steps []Step `json:"steps"`
}

// Step is one command. It has the nodes to remove, the nodes to launch before the removal, and the new nodes of the moved pods.
type Step struct {
	// Method is the planner's name for the method that found the step.
	Method string `json:"method"`
	// Removed are the names of the removed nodes.
	Removed []string `json:"removed"`
	// Launched are the nodes to launch, with the pods that are planned for them.
	Launched []Launch `json:"launched,omitempty"`
	// Existing are the existing nodes that receive pods.
	Existing []judge.ExistingNode `json:"existing,omitempty"`
}

// Launch is a node to launch: the offerings that the plan allows, and the offering that was bought.
type Launch struct {
	// Name is the name of the node. It is unique in the fleet.
	Name string `json:"name"`
	judge.NewNode
	// InstanceType, Zone and CapacityType describe the offering that was bought: the cheapest available offering that the plan allows.
	InstanceType string `json:"instanceType"`
	Zone         string `json:"zone"`
	CapacityType string `json:"capacityType"`
}
