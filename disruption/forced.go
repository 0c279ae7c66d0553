package disruption

import (
	"cmp"
	"time"

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
