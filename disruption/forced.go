package disruption

import (
	"cmp"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
)

// ForcedStep says what happens to a node that must be removed.
type ForcedStep struct {
	// Removal says how to remove the node; nil if it stays for now.
	Removal *Removal
	// Again is when to check again; 0 means never.
	Again time.Duration
}

// Expire removes a claim whose node has reached its maximum age. Budgets, pods and a missing Node don't prevent this.
func Expire(claim *v1.NodeClaim, now time.Time) ForcedStep {
	if claim == nil {
		return ForcedStep{}
	}
	due, expires := ExpiryOf(claim)
	switch {
	case !expires:
		return ForcedStep{}
	case now.Before(due.At):
		return ForcedStep{Again: due.At.Sub(now)}
	}
	return ForcedStep{Removal: &Removal{Claim: claim, Reason: ReasonExpired, Detail: "expireAfter " + cmp.Or(claim.Spec.ExpireAfter.String(), v1.DefaultExpireAfter.String())}}
}

// Interrupted returns the effect of a provider's message on the claim of its node: the claim is deleted, so that its pods get other places
// while they still run. If the node is broken, its pods are deleted at once. If the provider says when the node stops, this time is the
// deadline: pods that remain then get the rest of their grace period before that time, and are not cut off. A recommendation to rebalance
// removes nothing. It returns an empty step if the claim is being deleted, or if claim is nil because the node has no known claim.
func Interrupted(claim *v1.NodeClaim, message cloudprovider.Interruption, now time.Time) ForcedStep {
	if claim == nil || claim.DeletionTimestamp != nil || claim.Status.ProviderID != message.ProviderID {
		return ForcedStep{}
	}
	removal := &Removal{Claim: claim, Reason: ReasonInterrupted, Detail: string(message.Kind), Deadline: message.Deadline}
	switch message.Kind {
	case cloudprovider.InterruptionRebalance:
		return ForcedStep{}
	case cloudprovider.InterruptionUnhealthy:
		removal.Deadline = now // the instance is broken, so its pods get no grace period
	case cloudprovider.InterruptionSpotReclaim, cloudprovider.InterruptionReservationReclaim, cloudprovider.InterruptionMaintenance,
		cloudprovider.InterruptionStopped, cloudprovider.InterruptionTerminated:
	default:
		return ForcedStep{} // unknown kinds are ignored
	}
	return ForcedStep{Removal: removal}
}

// Limits of repair.
const (
	// repairShare is the percentage of nodes that may be unhealthy without stopping repair. The resulting number of nodes is rounded up.
	repairShare = 20
	// repairAgain is the time until the next check if repair did nothing.
	repairAgain = 5 * time.Minute
)

// RepairState is the observed state of a node. Repair does not change it.
type RepairState struct {
	// Node is the node to check, with its NodeClaim. If one of them is missing, there is nothing to repair.
	Node  *corev1.Node
	Claim *v1.NodeClaim
	// Policies are those of the provider; without policies repair is off.
	Policies []cloudprovider.RepairPolicy
	// Nodes are all nodes of the cluster.
	Nodes []*corev1.Node
}

// RepairStep says what happens to a node.
type RepairStep struct {
	// Removal says how to remove the node; nil if it stays.
	Removal *Removal
	// Block means that too many nodes are unhealthy at once. Then the cause is probably not in the nodes, and removing nodes would make it
	// worse. Block is nil if not too many are unhealthy.
	Block *RepairBlock
	// Again is when to check again; 0 means to check again when something changes.
	Again time.Duration
}

// RepairBlock says why nothing is repaired.
type RepairBlock struct {
	// Pool is the pool whose nodes are counted; the zero value means the whole cluster.
	Pool v1.PoolKey
	// Unhealthy is the number of unhealthy nodes among Nodes nodes. Allowed is the number of nodes that may be unhealthy.
	Unhealthy, Nodes, Allowed int
}

// String returns a sentence.
func (b *RepairBlock) String() string {
	of := "the cluster"
	if !b.Pool.IsZero() {
		of = "nodepool " + b.Pool.String()
	}
	return fmt.Sprintf("%d of %d nodes of %s are unhealthy, more than the %d that are repaired", b.Unhealthy, b.Nodes, of, b.Allowed)
}

// Removal is a node to remove regardless of budgets.
type Removal struct {
	// Claim is the NodeClaim to delete.
	Claim *v1.NodeClaim
	// Reason is the reason of the removal, Detail describes it for people and metrics.
	Reason Reason
	Detail string
	// Condition is the node's condition because of which it counts as broken; empty unless Reason is ReasonUnhealthy.
	Condition corev1.NodeConditionType
	// Deadline is the time at which the remaining pods are deleted in any case. If it is zero, the claim's terminationGracePeriod decides.
	// Write it to the claim's annotation v1.NodeClaimTerminationTimestampAnnotationKey before you delete the claim: see WithDeadline.
	Deadline time.Time
}

// WithDeadline returns a copy of the claim with the removal's deadline in its annotation, and whether the copy differs from the claim. An
// earlier deadline of the claim stays; a later deadline is overwritten.
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

// Repair removes a node that has been broken for longer than a policy of its provider tolerates. It does nothing if more than a fifth of
// the pool's nodes match a policy. For a claim without a pool, it counts the nodes of the cluster. Pods get only the shortest possible
// grace period: see Removal.Deadline.
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

// repairDue returns the first time from which a policy no longer tolerates a condition of the node, and that policy. policy is nil if no
// policy matches a condition.
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
