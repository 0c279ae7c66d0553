package decision

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/scheduling/cluster"
	"github.com/drawknife/drawknife/scheduling/planning"
	"github.com/drawknife/drawknife/scheduling/pods"
)

// Candidate is a node that may be disrupted, with what planners need to know about it. It is read-only.
type Candidate struct {
	// Name is the name of its planning.Node.
	Name string
	// State and Node are the node in the view and in the snapshot.
	State *cluster.NodeState
	Node  *planning.Node
	// Pool that owns it.
	Pool *planning.NodePool
	// InstanceType by its label, overlays applied; nil when the provider does not list it.
	InstanceType *cloudprovider.InstanceType
	// Zone and CapacityType by its labels; may be empty.
	Zone, CapacityType string
	// Price in USD per hour; 0 if Priced is false.
	Price  float64
	Priced bool
	// Pods are the reschedulable pods, which would need another place; by namespace and name.
	Pods []*corev1.Pod
	// Cost of disrupting it, in units of an ordinary pod: 1 for the node plus the eviction costs of its pods.
	Cost float64
	// QuietSince is when consolidateAfter started.
	QuietSince time.Time
	// Drifted is since when it is drifted; zero if it is not.
	Drifted time.Time
	// PodBlock is the block by a pod that excludes it from graceful methods, but not from eventual ones, because its NodeClaim
	// has a terminationGracePeriod. Nil if there is none.
	PodBlock *Block
}

// Empty reports whether no pod with a cost would have to move.
func (c *Candidate) Empty() bool { return c.Cost <= 1 }

// Ratio returns the saving of its removal per unit of disruption: the order of consolidation.
func (c *Candidate) Ratio() float64 { return c.Price / c.Cost }

// LegacyCost returns the disruption cost of earlier Karpenter releases, by which static pools still choose nodes to remove: the eviction
// cost of all its pods, whatever their owner, times the remaining share of its lifetime.
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
