package disruption

import (
	"cmp"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
)

// ForcedStep is what happens to a node that must go.
type ForcedStep struct {
	// Removal of the node; nil if it stays for now.
	Removal *Removal
	// Again is when to check again; 0 means never.
	Again time.Duration
}

// Expire removes a claim whose node has reached its maximum age: budgets, pods and a missing Node don't matter.
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

// Interrupted returns what a message of the provider means for the claim of its node: the claim is deleted, so that its pods get other
// places while they still run. If the node is broken, they are deleted at once. If the provider says when the node stops, that is the
// deadline: remaining pods get the rest of their grace period instead of being cut off. A mere recommendation to rebalance removes
// nothing. Nothing happens to a claim that is being deleted, or for a node without a known claim (nil).
func Interrupted(claim *v1.NodeClaim, message cloudprovider.Interruption, now time.Time) ForcedStep {
	if claim == nil || claim.DeletionTimestamp != nil || claim.Status.ProviderID != message.ProviderID {
		return ForcedStep{}
	}
	removal := &Removal{Claim: claim, Reason: ReasonInterrupted, Detail: string(message.Kind), Deadline: message.Deadline}
	switch message.Kind {
	case cloudprovider.InterruptionRebalance:
		return ForcedStep{}
	case cloudprovider.InterruptionUnhealthy:
		removal.Deadline = now // it is broken: its pods get no grace period
	case cloudprovider.InterruptionSpotReclaim, cloudprovider.InterruptionReservationReclaim, cloudprovider.InterruptionMaintenance,
		cloudprovider.InterruptionStopped, cloudprovider.InterruptionTerminated:
	default:
		return ForcedStep{} // unknown kinds are ignored
	}
	return ForcedStep{Removal: removal}
}

// Limits of repair.
const (
	// repairShare is the percentage of nodes that may be unhealthy, rounded up.
	repairShare = 20
	// repairAgain is when to check again after repair did nothing.
	repairAgain = 5 * time.Minute
)

// RepairState is the observed state of a node. Nothing in it is changed.
type RepairState struct {
	// Node to check, and its NodeClaim: without both there is nothing to repair.
	Node  *corev1.Node
	Claim *v1.NodeClaim
	// Policies of the provider; without policies repair is off.
	Policies []cloudprovider.RepairPolicy
	// Nodes are all nodes of the cluster.
	Nodes []*corev1.Node
}

// RepairStep is what happens to a node.
type RepairStep struct {
	// Removal of the node; nil if it stays.
	Removal *Removal
	// Block means that too many nodes are unhealthy at once: probably the cause is elsewhere, and removing nodes would make it worse. Nil
	// if that is not so.
	Block *RepairBlock
	// Again is when to check again; 0 means when something changes.
	Again time.Duration
}

// RepairBlock says why nothing is repaired.
type RepairBlock struct {
	// Pool whose nodes are counted; the zero value for the whole cluster.
	Pool v1.PoolKey
	// Unhealthy of Nodes are unhealthy, and Allowed may be.
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
	// Reason, and its Detail for people and metrics.
	Reason Reason
	Detail string
	// Condition of the node for which it counts as broken; empty unless Reason is ReasonUnhealthy.
	Condition corev1.NodeConditionType
	// Deadline is when its pods are deleted in any case; zero leaves that to the claim's terminationGracePeriod. Write it to the claim's
	// annotation v1.NodeClaimTerminationTimestampAnnotationKey before you delete the claim: see WithDeadline.
	Deadline time.Time
}

// WithDeadline returns a copy of the claim with the removal's deadline in its annotation, and whether it differs from the claim: an
// earlier deadline stays, a later one is overwritten.
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

// Repair removes a node that has been broken, by a policy of its provider, for longer than the policy tolerates. It does not if more than
// a fifth of the pool's nodes match a policy (of the cluster's nodes for a claim without a pool). Pods get only the minimum time: see
// Removal.Deadline.
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

// repairDue returns when the first matching policy no longer tolerates the condition.
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
