package disruption

import (
	"cmp"
	"time"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
)

// ForcedStep is what becomes of a node that something forces out.
type ForcedStep struct {
	// Removal of it; nil when it stays for now.
	Removal *Removal
	// Again is when to look again; 0 is never.
	Again time.Duration
}

// Expire removes a claim whose node has lived for as long as it may: budgets, pods and a missing Node do not matter.
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

// Interrupted is what a message of the provider means for the claim of the node that it is about: the claim is deleted, so
// that its pods get other places while they still run; at once and without regard to them if the node is broken. Where the
// provider says when the node stops, that is the deadline: pods that nothing else moves get what is left of their grace
// period, instead of being cut off. A mere recommendation to rebalance removes nothing. Nothing happens to a claim that is
// being deleted, and none for a node that no claim is known of: a nil claim.
func Interrupted(claim *v1.NodeClaim, message cloudprovider.Interruption, now time.Time) ForcedStep {
	if claim == nil || claim.DeletionTimestamp != nil || claim.Status.ProviderID != message.ProviderID {
		return ForcedStep{}
	}
	removal := &Removal{Claim: claim, Reason: ReasonInterrupted, Detail: string(message.Kind), Deadline: message.Deadline}
	switch message.Kind {
	case cloudprovider.InterruptionRebalance:
		return ForcedStep{}
	case cloudprovider.InterruptionUnhealthy:
		removal.Deadline = now // it is broken: its pods get no time
	case cloudprovider.InterruptionSpotReclaim, cloudprovider.InterruptionReservationReclaim, cloudprovider.InterruptionMaintenance,
		cloudprovider.InterruptionStopped, cloudprovider.InterruptionTerminated:
	default:
		return ForcedStep{} // what is not known is left alone
	}
	return ForcedStep{Removal: removal}
}
