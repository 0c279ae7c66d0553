package planning

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	v1 "github.com/drawknife/drawknife/api/v1"
)

// PlaceOptions say how pods are placed. The zero value respects preferences and plans as many nodes as it takes. They
// hold for one call of Place; the next may have others.
type PlaceOptions struct {
	Query
	// ExistingOnly keeps Place from planning nodes: what has no room on those of the snapshot, and on those that the trial
	// has planned before, stays without a place.
	ExistingOnly bool
}

// Outcome is what Place achieved.
type Outcome struct {
	// Placed and Unplaced count the pods that were waiting.
	Placed, Unplaced int
	// NewNodes is how many nodes were planned, for NewCost USD per hour.
	NewNodes int
	NewCost  float64
}

// Assignment is where a trial has put pods.
type Assignment struct {
	// Existing are the nodes of the snapshot that have received some, by name.
	Existing []ExistingNode
	// Planned are the pods of new nodes, by number.
	Planned [][]PodKey
	// Hidden are the nodes that are hidden, in the order they were.
	Hidden []string
	// ExistingFrom and PlannedFrom tell for each of those pods which of Hidden it comes from; -1 for one that waits anyway.
	ExistingFrom, PlannedFrom [][]int32
}

// Load is what a trial has put on a node: how many pods, and what they are worth together, USD per hour.
type Load struct {
	Pods  int
	Worth float64
}

// NodeRoom is how much of a resource a node has free.
type NodeRoom struct {
	Node string
	Free resource.Quantity
}

// Launchable is a kind of node that a new node may be.
type Launchable struct {
	// Pool that launches it, and its InstanceType.
	Pool         v1.PoolKey
	InstanceType string
	// Room is what it has for pods: its allocatable less what DaemonSets take, resources of which it has none left out.
	Room corev1.ResourceList
	// Price is the lowest for which the pool may buy it, USD per hour. What is not available and what draws on a reservation
	// that is used up does not count; with a CostModel it is the price of a node that no commitment covers.
	Price float64
}
