package decision

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/drawknife/drawknife/api/v1"
)

// Disruption is a disruption that has started. Budgets with a window count them. It is counted whether it succeeded or not.
type Disruption struct {
	// Node is the disrupted node. Time is when the node's disruption started.
	Node string
	Time time.Time
	// Command is the ID of the command that disrupted the node; empty if the disruption was forced. A node counts once for each command.
	Command string
	// Reason is the reason of the disruption, which may be a forced one.
	Reason Reason
	// Pool, Zone and Labels are those of the node at that time.
	Pool   v1.PoolKey
	Zone   string
	Labels map[string]string
	// Pods is the number of pods that had to move. Price is in USD per hour.
	Pods  int
	Price float64
	// Owners are the owners of these pods. For a while, disruption.Global does not disrupt nodes with pods of these owners: see
	// Global.CoolDown.
	Owners []types.UID
}

// DisruptionOf returns the history entry for the disruption of a candidate by a command.
func DisruptionOf(c *Candidate, r Reason, started time.Time) Disruption {
	if c == nil || c.Pool == nil || c.State == nil || c.State.Node == nil {
		return Disruption{}
	}
	return Disruption{
		Node: c.Name, Time: started, Reason: r, Pool: c.Pool.Key, Zone: c.Zone, Labels: c.State.Node.Labels,
		Pods: len(c.Pods), Price: c.Price, Owners: ownersOf(c.Pods),
	}
}

// ForcedDisruption returns the history entry for the forced removal of a claim's node by expiry, interruption or repair. No budget can
// block it. But budgets with a rate count it, and disruption.Global does not disrupt the workloads of its pods for a while. node may be
// empty; moving are the pods that must move. Set Price in the result if you know it.
func ForcedDisruption(claim *v1.NodeClaim, node string, r Reason, moving []*corev1.Pod, started time.Time) Disruption {
	if claim == nil {
		return Disruption{}
	}
	return Disruption{
		Node: node, Time: started, Reason: r, Pool: v1.PoolOf(claim.Labels), Zone: claim.Labels[corev1.LabelTopologyZone], Labels: claim.Labels,
		Pods: len(moving), Owners: ownersOf(moving),
	}
}

// ownersOf returns the UIDs of the pods' owners, each once, in the order of the pods.
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
