package decision

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/drawknife/drawknife/api/v1"
)

// Disruption is one that was started: what budgets with a window remember. What became of it does not matter.
type Disruption struct {
	// Node, and Time of its start.
	Node string
	Time time.Time
	// Command it was started for, by ID; empty for one that was forced. It counts once for a command and node.
	Command string
	// Reason it was for; forced ones count too.
	Reason Reason
	// Pool, Zone and Labels of the node at the time.
	Pool   v1.PoolKey
	Zone   string
	Labels map[string]string
	// Pods that had to move, and Price in USD per hour.
	Pods  int
	Price float64
	// Owners of those pods: disruption.Global leaves nodes with pods of theirs alone for a while, see its CoolDown.
	Owners []types.UID
}

// DisruptionOf notes that the disruption of a candidate was started.
func DisruptionOf(c *Candidate, r Reason, started time.Time) Disruption {
	if c == nil || c.Pool == nil || c.State == nil || c.State.Node == nil {
		return Disruption{}
	}
	return Disruption{
		Node: c.Name, Time: started, Reason: r, Pool: c.Pool.Key, Zone: c.Zone, Labels: c.State.Node.Labels,
		Pods: len(c.Pods), Price: c.Price, Owners: ownersOf(c.Pods),
	}
}

// ForcedDisruption notes that the removal of a claim's node was forced and has been started: by expiry, an interruption, or
// repair. It asked no budget, but those with a rate count it; and pods' owners that it disturbed are left alone for a
// while by disruption.Global, whatever it was that moved them. node may be empty, moving are the pods that have to move, and Price is the
// caller's to fill in where it is known.
func ForcedDisruption(claim *v1.NodeClaim, node string, r Reason, moving []*corev1.Pod, started time.Time) Disruption {
	if claim == nil {
		return Disruption{}
	}
	return Disruption{
		Node: node, Time: started, Reason: r, Pool: v1.PoolOf(claim.Labels), Zone: claim.Labels[corev1.LabelTopologyZone], Labels: claim.Labels,
		Pods: len(moving), Owners: ownersOf(moving),
	}
}

// ownersOf are the owners of the pods, each once, in their order.
func ownersOf(list []*corev1.Pod) []types.UID {
	var out []types.UID
	for _, pod := range list {
		if pod == nil {
			continue
		}
		for i := range pod.OwnerReferences {
			if uid := pod.OwnerReferences[i].UID; !slices.Contains(out, uid) {
				out = append(out, uid)
			}
		}
	}
	return out
}
