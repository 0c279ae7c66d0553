package decision

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/scheduling/cluster"
	"github.com/drawknife/drawknife/scheduling/planning"
	"github.com/drawknife/drawknife/scheduling/pods"
)

// Candidate is a node that may be disrupted, with the data that planners need about it. It is read-only.
type Candidate struct {
	// Name is the name of the planning.Node.
	Name string
	// State is the node in the view, Node is the node in the snapshot.
	State *cluster.NodeState
	Node  *planning.Node
	// Pool is the pool that owns the node.
	Pool *planning.NodePool
	// InstanceType is the type that the node's label names, with overlays applied; nil if the provider does not list it.
	InstanceType *cloudprovider.InstanceType
	// Zone and CapacityType are from the node's labels; they may be empty.
	Zone, CapacityType string
	// Price is in USD per hour; 0 if Priced is false.
	Price  float64
	Priced bool
	// Pods are the reschedulable pods, which would need another place. They are sorted by namespace and name.
	Pods []*corev1.Pod
	// Cost is the cost of disrupting the node, in units of an ordinary pod: 1 for the node plus the eviction costs of its pods.
	Cost float64
	// QuietSince is the time from which consolidateAfter is counted.
	QuietSince time.Time
	// Drifted is the time since which the node is drifted; zero if it is not drifted.
	Drifted time.Time
	// PodBlock is the block by a pod that excludes the node from methods of ClassGraceful. Methods of ClassEventual still accept the node,
	// because its NodeClaim has a terminationGracePeriod. It is nil if no pod blocks the node.
	PodBlock *Block
}

// Empty reports whether no pod with a disruption cost would have to move.
func (c *Candidate) Empty() bool { return c.Cost <= 1 }

// Ratio returns the saving of the node's removal per unit of disruption. Consolidation sorts candidates by this ratio.
func (c *Candidate) Ratio() float64 { return c.Price / c.Cost }

// LegacyCost returns the disruption cost of earlier Karpenter releases: the eviction cost of all pods on the node, whatever their owner,
// times the remaining share of the node's lifetime. Static pools still use it to choose the nodes to remove.
func (c *Candidate) LegacyCost(now time.Time) float64 {
	if c.State == nil {
		return 0
	}
	return legacyCost(c.State, now)
}

// legacyCost implements Candidate.LegacyCost.
func legacyCost(m *cluster.NodeState, now time.Time) float64 {
	sum := 0.0
	for _, pod := range m.Pods {
		sum += pods.EvictionCost(pod)
	}
	if m.Claim == nil {
		return sum
	}
	life, expires := lifetime(m.Claim)
	if !expires {
		return sum
	}
	return sum * pods.RemainingLifetime(m.Claim.CreationTimestamp.Time, now, &life)
}
