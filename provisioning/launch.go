package provisioning

import (
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
)

// Back-off of a claim whose launch fails.
const (
	launchBackOffFirst   = time.Second
	launchBackOffLongest = time.Minute
	// longestMessage is the maximum length of a condition's message from an untyped error.
	longestMessage = 300
)

// launch launches the instance. A claim with an invalid request is not launched again: it waits for its timeout, so that a pool
// with an invalid template fails only once per timeout.
func (l *Lifecycle) launch(s ClaimState, now time.Time) Step {
	claim := s.Claim
	launched := claim.DeepCopy().Conditions().Get(v1.ConditionLaunched)
	if launched.Reason == string(cloudprovider.Permanent) {
		return Step{Again: l.left(claim, now)}
	}
	return Step{Effects: []Effect{CreateInstance{Claim: claim.DeepCopy(), Group: launchedTogether(s)}}}
}

// Created returns the next step after the provider's answer to CreateInstance: err as returned; answer is nil if err is not.
func (l *Lifecycle) Created(claim, answer *v1.NodeClaim, err error, now time.Time) Step {
	if err == nil && answer == nil {
		err = cloudprovider.NewTransientError(errors.New("the provider described no instance"))
	}
	if err == nil {
		launched := launchedClaim(claim, answer, now)
		// Only this step knows the instance yet: if its claim was deleted during the launch, it is terminated here.
		return Step{Effects: []Effect{PutClaim{Claim: launched, IfGone: []Effect{TerminateInstance{launched.DeepCopy()}}}}}
	}
	switch kind := cloudprovider.KindOf(err); kind {
	case cloudprovider.InsufficientCapacity, cloudprovider.QuotaExceeded:
		return Step{
			Effects: []Effect{DeleteClaim{Name: claim.Name, UID: claim.UID, Reason: ReasonInsufficientCapacity}},
			Events:  []Event{claimEvent(claim, EventInsufficientCapacity, fmt.Sprintf("NodeClaim %s event: %s", claim.Name, cut(err.Error())))},
		}
	case cloudprovider.NodeClassNotReady:
		return Step{
			Effects: []Effect{DeleteClaim{Name: claim.Name, UID: claim.UID, Reason: ReasonNodeClassNotReady}},
			Events:  []Event{claimEvent(claim, EventLaunchFailed, fmt.Sprintf("NodeClaim %s event: %s", claim.Name, cut(err.Error())))},
		}
	default:
		return l.launchFailed(claim, err, kind, now)
	}
}

// launchFailed shows the error on the claim, which stays and is tried again: after as long as it has
// been tried so far, so that the waits double from one second to one minute without a counter; or when the cloud says; or every minute if
// only an operator can help.
func (l *Lifecycle) launchFailed(claim *v1.NodeClaim, err error, kind cloudprovider.ErrorKind, now time.Time) Step {
	reason, message := "LaunchFailed", cut(err.Error())
	var create *cloudprovider.CreateError
	if errors.As(err, &create) && create.Reason != "" {
		reason, message = create.Reason, create.Message
	}
	again := min(max(now.Sub(claim.CreationTimestamp.Time), launchBackOffFirst), launchBackOffLongest)
	switch kind {
	case cloudprovider.Permanent:
		reason, again = string(kind), l.left(claim, now)
	case cloudprovider.Unauthorized:
		reason, again = string(kind), launchBackOffLongest
	case cloudprovider.Throttled:
		if after, ok := cloudprovider.RetryAfter(err); ok {
			again = max(after, launchBackOffFirst)
		}
	}
	failed := claim.DeepCopy()
	failed.Conditions().SetUnknown(v1.ConditionLaunched, reason, message, now)
	step := changed(claim, failed, untilDue(again, l.left(claim, now)))
	step.Events = append(step.Events, claimEvent(claim, EventLaunchFailed, fmt.Sprintf("NodeClaim %s event: %s: %s", claim.Name, reason, cut(message))))
	return step
}

// launchedClaim copies the provider's description of the instance. Labels of the claim override the provider's; annotations of the
// provider override the claim's.
func launchedClaim(claim, answer *v1.NodeClaim, now time.Time) *v1.NodeClaim {
	out := claim.DeepCopy()
	out.Labels = merged(answer.Labels, claim.Labels)
	out.Annotations = merged(claim.Annotations, answer.Annotations)
	out.Status.ProviderID = answer.Status.ProviderID
	out.Status.ImageID = answer.Status.ImageID
	out.Status.Capacity = answer.Status.Capacity.DeepCopy()
	out.Status.Allocatable = answer.Status.Allocatable.DeepCopy()
	out.Conditions().SetTrue(v1.ConditionLaunched, now)
	return out
}

// merged has the entries of both maps; the second overrides the first.
func merged(first, second map[string]string) map[string]string {
	if len(first)+len(second) == 0 {
		return nil
	}
	out := make(map[string]string, len(first)+len(second))
	maps.Copy(out, first)
	maps.Copy(out, second)
	return out
}

func cut(message string) string {
	if len(message) <= longestMessage {
		return message
	}
	return strings.ToValidUTF8(message[:longestMessage], "")
}

func claimEvent(claim *v1.NodeClaim, reason EventReason, message string) Event {
	return Event{Kind: "NodeClaim", Name: claim.Name, UID: claim.UID, Warning: true, Reason: reason, Message: message}
}

// Feedback records a failed launch for the planner: it updates the stock estimate of the offerings in the error, and reports
// whether to plan at once because the claim's pods need another node. estimate may be nil.
func Feedback(err error, estimate *StockEstimate, now time.Time) (planNow bool) {
	if estimate != nil {
		if keys := cloudprovider.ExhaustedOfferings(err); len(keys) > 0 {
			estimate.Exhausted(keys, now)
		}
	}
	return cloudprovider.LaunchAbandoned(err)
}
