package clusterreport

import (
	"cmp"
	"slices"
	"time"
)

const (
	// APIVersion is the value of the field apiVersion in every report.
	APIVersion = "drawknife.dev/v1"
	// Kind is the value of the field kind in every report.
	Kind = "ClusterReport"
	// Path is the path of the report on the controller's metrics server.
	Path = "/debug/cluster"

	// MaxNodes is the largest number of nodes in a report. Totals count all of them.
	MaxNodes = 5000
	// MaxPending is the largest number of pending pods in a report. Totals count all of them.
	MaxPending = 100
	// MaxCommands is the largest number of commands in a report. Totals count all of them.
	MaxCommands = 1000
)

// Report is the cluster at one moment, as the controller knows it. Fields are never renamed or removed.
type Report struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	// Time is when the report was made.
	Time time.Time `json:"time"`
	// Leader reports whether the process is the leader. Only the leader has a report: the lists of another process are empty.
	Leader bool `json:"leader"`
	// Note says why the report is empty or not complete; empty if it is complete.
	Note string `json:"note,omitempty"`

	Totals Totals `json:"totals"`
	Saved  Saved  `json:"saved"`
	// Commands are the commands under way, by ID.
	Commands []Command `json:"commands"`
	// Pending are the pods that wait for a place, by namespace and name.
	Pending []Pod `json:"pending"`
	// Nodes by name.
	Nodes []Node `json:"nodes"`
}

// Totals are sums of the whole cluster.
type Totals struct {
	// HourlyCost is what the nodes with a known price cost, USD per hour. ByCapacityType is the same by capacity type.
	HourlyCost     float64            `json:"hourlyCost"`
	ByCapacityType map[string]float64 `json:"byCapacityType,omitempty"`
	// WithoutPrice is the number of nodes with an instance whose price is not known, such as nodes without a NodePool.
	WithoutPrice int `json:"withoutPrice"`
	// Nodes are the nodes, including those that start or leave. Pods are the pods on them. Pending are the pods that wait for a place.
	Nodes    int `json:"nodes"`
	Pods     int `json:"pods"`
	Pending  int `json:"pending"`
	Commands int `json:"commands"`
	// Allocatable and Requested are sums over the nodes that have joined.
	Allocatable Amounts `json:"allocatable"`
	Requested   Amounts `json:"requested"`
}

// Saved is what the commands save that the process has completed since it started.
type Saved struct {
	// PerHour is the sum of the commands' savings, USD per hour. It is negative if the replacements cost more than the removed nodes, as
	// those of drifted nodes may.
	PerHour  float64 `json:"perHour"`
	Commands int     `json:"commands"`
	// Since is when the process started.
	Since time.Time `json:"since"`
}

// Amounts are amounts of a node's resources.
type Amounts struct {
	// CPU in cores, Memory in bytes.
	CPU    float64 `json:"cpu"`
	Memory float64 `json:"memory"`
}

// NodeState says what a node does.
type NodeState string

// The states of nodes.
const (
	// StateLaunching: the NodeClaim has no instance yet.
	StateLaunching NodeState = "launching"
	// StateRegistering: the instance has not joined the cluster yet.
	StateRegistering NodeState = "registering"
	// StateInitializing: the Node has joined, and is not ready for pods yet.
	StateInitializing NodeState = "initializing"
	// StateReady and StateNotReady: the node is initialized; its kubelet reports that it is ready, or not.
	StateReady    NodeState = "ready"
	StateNotReady NodeState = "notReady"
	// StateLeaving: a command removes the node, and waits, for example for a replacement.
	StateLeaving NodeState = "leaving"
	// StateDraining: the node is being deleted, and its pods leave.
	StateDraining NodeState = "draining"
	// StateTerminating: the pods have left, and the instance ends.
	StateTerminating NodeState = "terminating"
)

// Node is a node, or a NodeClaim that has no Node yet.
type Node struct {
	// Name is the name of the Node, or of the NodeClaim while there is no Node.
	Name      string `json:"name"`
	NodeClaim string `json:"nodeClaim,omitempty"`
	NodePool  string `json:"nodePool,omitempty"`
	// InstanceType, Zone and CapacityType are empty while they are not known.
	InstanceType string    `json:"instanceType,omitempty"`
	Zone         string    `json:"zone,omitempty"`
	CapacityType string    `json:"capacityType,omitempty"`
	State        NodeState `json:"state"`
	// Since is when the NodeClaim was created, or the Node if there is no NodeClaim.
	Since time.Time `json:"since"`
	// Price in USD per hour; nil if it is not known.
	Price *float64 `json:"price,omitempty"`
	// Pods is the number of pods on the node. Requested is what they request.
	Pods        int     `json:"pods"`
	Allocatable Amounts `json:"allocatable"`
	Requested   Amounts `json:"requested"`
	// Command is the ID of the command under way that removes the node, and Reason is its reason; empty if there is no such command.
	Command string `json:"command,omitempty"`
	Reason  string `json:"reason,omitempty"`
}

// Pod is a pod that waits for a place.
type Pod struct {
	Namespace string    `json:"namespace"`
	Name      string    `json:"name"`
	Since     time.Time `json:"since"`
	// Planned is where the last plan puts the pod; Reason is why the last plan has no place for it. Both are empty if the pod came after
	// the last plan.
	Planned string `json:"planned,omitempty"`
	Reason  string `json:"reason,omitempty"`
}

// Command is a command under way, which removes nodes.
type Command struct {
	ID     string `json:"id"`
	Reason string `json:"reason"`
	State  string `json:"state"`
	// Nodes are the nodes that the command removes.
	Nodes []string `json:"nodes"`
	// Replacements are the nodes that it launches first.
	Replacements []Replacement `json:"replacements,omitempty"`
	// Saves is in USD per hour; negative if the replacements cost more than the nodes.
	Saves float64 `json:"saves"`
	// Since is when the command was planned.
	Since time.Time `json:"since"`
}

// Replacement is a node that a command launches. The instance type is the planned one: the cloud may launch another one that was allowed.
type Replacement struct {
	NodePool     string `json:"nodePool"`
	InstanceType string `json:"instanceType,omitempty"`
	Zone         string `json:"zone,omitempty"`
	CapacityType string `json:"capacityType,omitempty"`
}

// String returns the replacement in a few words.
func (r Replacement) String() string {
	if r.InstanceType == "" {
		return "a node of " + r.NodePool
	}
	return r.InstanceType + " " + r.CapacityType + " in " + r.Zone
}

// Share returns the requested part of an allocatable amount, from 0 to 1. It is 0 if nothing is allocatable.
func Share(requested, allocatable float64) float64 {
	if !(requested > 0 && allocatable > 0) {
		return 0
	}
	return min(1, requested/allocatable)
}

// CPU returns the part of the node's CPU that its pods request, from 0 to 1.
func (n *Node) CPU() float64 { return Share(n.Requested.CPU, n.Allocatable.CPU) }

// Memory returns the part of the node's memory that its pods request, from 0 to 1.
func (n *Node) Memory() float64 { return Share(n.Requested.Memory, n.Allocatable.Memory) }

// Use returns how full the node is: the larger of CPU and Memory.
func (n *Node) Use() float64 { return max(n.CPU(), n.Memory()) }

// Changing reports whether the node starts, leaves or has a problem.
func (n *Node) Changing() bool { return n.State != StateReady }

// ByUse returns the nodes in the order in which a viewer shows them: first those that change, then the fullest, then by name.
func (r *Report) ByUse() []Node {
	sorted := slices.Clone(r.Nodes)
	slices.SortStableFunc(sorted, func(a, b Node) int {
		if a.Changing() != b.Changing() {
			if a.Changing() {
				return -1
			}
			return 1
		}
		return cmp.Or(cmp.Compare(b.Use(), a.Use()), cmp.Compare(a.Name, b.Name))
	})
	return sorted
}
