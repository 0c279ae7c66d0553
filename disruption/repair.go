package disruption

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
)

// How much may be broken before repair stops.
const (
	// repairShare is the percentage of nodes that may be unhealthy, rounded up.
	repairShare = 20
	// repairAgain is when to look again at what repair does not touch.
	repairAgain = 5 * time.Minute
)

// RepairState is what is known when the health of a node is looked at. Nothing in it is changed.
type RepairState struct {
	// Node that is looked at, and its NodeClaim: without either there is nothing to repair.
	Node  *corev1.Node
	Claim *v1.NodeClaim
	// Policies of the provider; none turns repair off.
	Policies []cloudprovider.RepairPolicy
	// Nodes are all of the cluster.
	Nodes []*corev1.Node
}

// RepairStep is what becomes of a node.
type RepairStep struct {
	// Removal of the node; nil when it stays.
	Removal *Removal
	// Block says that too many nodes are unhealthy at once: more likely something else is at fault, and removing them
	// would make it worse. Nil when that is not so.
	Block *RepairBlock
	// Again is when to look again; 0 is when something changes.
	Again time.Duration
}

// RepairBlock is why nothing is repaired.
type RepairBlock struct {
	// Pool that the nodes are counted of; the zero value for the whole cluster.
	Pool v1.PoolKey
	// Unhealthy of Nodes, and how many of them may be.
	Unhealthy, Nodes, Allowed int
}

// String is a sentence.
func (b *RepairBlock) String() string {
	of := "the cluster"
	if !b.Pool.IsZero() {
		of = "nodepool " + b.Pool.String()
	}
	return fmt.Sprintf("%d of %d nodes of %s are unhealthy, more than the %d that are repaired", b.Unhealthy, b.Nodes, of, b.Allowed)
}

// Removal is a node that must go, whatever stands in the way.
type Removal struct {
	// Claim to delete.
	Claim *v1.NodeClaim
	// Reason, and Detail of it for people and metrics.
	Reason Reason
	Detail string
	// Condition of the node that calls it broken; empty unless Reason is ReasonUnhealthy.
	Condition corev1.NodeConditionType
	// Deadline is when its pods are deleted, whatever they say; zero leaves that to the claim's terminationGracePeriod. It
	// belongs in the claim's annotation v1.NodeClaimTerminationTimestampAnnotationKey before the claim is deleted: see
	// WithDeadline.
	Deadline time.Time
}

// WithDeadline is a copy of the claim whose annotation says the removal's deadline, and whether it differs from the claim:
// an earlier deadline that is there already stays, a later one is overwritten.
func (r *Removal) WithDeadline() (claim *v1.NodeClaim, changed bool) {
	claim = r.Claim.DeepCopy()
	if r.Deadline.IsZero() {
		return claim, false
	}
	const key = v1.NodeClaimTerminationTimestampAnnotationKey
	if there, err := time.Parse(time.RFC3339, claim.Annotations[key]); err == nil && !there.After(r.Deadline) {
		return claim, false
	}
	annotate(&claim.Annotations, key, r.Deadline.UTC().Format(time.RFC3339))
	return claim, true
}

// Repair removes a node that a policy of its provider calls broken for longer than it tolerates, unless more than a
// fifth of the pool's nodes, or for a claim without a pool of the cluster's, match a policy. Pods get no time beyond the
// least: see Removal.Deadline.
func Repair(s RepairState, now time.Time) RepairStep {
	if s.Node == nil || s.Claim == nil || s.Claim.DeletionTimestamp != nil {
		return RepairStep{}
	}
	due, policy := repairDue(s.Node, s.Policies)
	switch {
	case policy == nil:
		return RepairStep{}
	case now.Before(due):
		return RepairStep{Again: due.Sub(now)}
	}
	if block := tooManyUnhealthy(s); block != nil {
		return RepairStep{Block: block, Again: repairAgain}
	}
	return RepairStep{Removal: &Removal{
		Claim: s.Claim, Reason: ReasonUnhealthy, Deadline: now, Condition: policy.ConditionType,
		Detail: fmt.Sprintf("%s is %s for over %s", policy.ConditionType, policy.ConditionStatus, policy.Toleration),
	}}
}

// repairDue is when the first matching policy runs out of patience.
func repairDue(node *corev1.Node, policies []cloudprovider.RepairPolicy) (due time.Time, policy *cloudprovider.RepairPolicy) {
	for i := range policies {
		for j := range node.Status.Conditions {
			c := &node.Status.Conditions[j]
			if c.Type != policies[i].ConditionType || c.Status != policies[i].ConditionStatus {
				continue
			}
			if at := c.LastTransitionTime.Add(policies[i].Toleration); policy == nil || at.Before(due) {
				due, policy = at, &policies[i]
			}
		}
	}
	return due, policy
}

func tooManyUnhealthy(s RepairState) *RepairBlock {
	b := &RepairBlock{Pool: v1.PoolOf(s.Claim.Labels)}
	for _, node := range s.Nodes {
		if !b.Pool.IsZero() && v1.PoolOf(node.Labels) != b.Pool {
			continue
		}
		b.Nodes++
		if _, policy := repairDue(node, s.Policies); policy != nil {
			b.Unhealthy++
		}
	}
	b.Allowed = (b.Nodes*repairShare + 99) / 100
	if b.Unhealthy <= b.Allowed {
		return nil
	}
	return b
}
