package decision

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/scheduling/cluster"
	"github.com/drawknife/drawknife/scheduling/planning"
	"github.com/drawknife/drawknife/scheduling/pods"
)

// Candidate is a node that may be disrupted as far as it alone is concerned, with what planners weigh. It is
// read-only.
type Candidate struct {
	// Name is that of its planning.Node.
	Name string
	// Node and Node are it as the view has it.
	Machine *cluster.Machine
	Node    *planning.Node
	// Pool that owns it.
	Pool *planning.NodePool
	// InstanceType by its label, overlays applied; nil when the provider does not list it.
	InstanceType *cloudprovider.InstanceType
	// Zone and CapacityType by its labels; may be empty.
	Zone, CapacityType string
	// Price in USD per hour; 0 when it is not known, as Priced says.
	Price  float64
	Priced bool
	// Pods would need another place: those that are reschedulable, by namespace and name.
	Pods []*corev1.Pod
	// Cost of disrupting it, in units of an ordinary pod: 1 for the node and what each pod's eviction is worth.
	Cost float64
	// QuietSince is when the waiting time of consolidateAfter began.
	QuietSince time.Time
	// Drifted is since when it is drifted; zero when it is not.
	Drifted time.Time
	// PodBlock is the pod that holds it back from graceful methods, though not from eventual ones: its NodeClaim has a
	// terminationGracePeriod. Nil when no pod does.
	PodBlock *Block
}

// Empty reports whether no pod that matters would have to move.
func (c *Candidate) Empty() bool { return c.Cost <= 1 }

// Ratio is what removing it saves for each unit of disturbance: the order of consolidation.
func (c *Candidate) Ratio() float64 { return c.Price / c.Cost }

// LegacyCost is the disruption cost by which consolidation used to order nodes, and by which static pools choose what to
// give back: what evicting all its pods costs, whoever owns them, by the share of its life that it has before it.
func (c *Candidate) LegacyCost(now time.Time) float64 {
	if c.Machine == nil {
		return 0
	}
	return legacyCost(c.Machine, now)
}

// legacyCost is Candidate.LegacyCost.
func legacyCost(m *cluster.Machine, now time.Time) float64 {
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
