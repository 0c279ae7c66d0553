package provisioning

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/drawknife/drawknife/api/option"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/scheduling"
)

// Back-off of a claim whose launch fails.
const (
	launchBackOffFirst   = time.Second
	launchBackOffLongest = time.Minute
	// longestMessage is the maximum length of an error's text in a condition or an event.
	longestMessage = 300
)

// launch returns the effect that launches the claim's instance. A claim with an invalid request is not launched again: it waits for its
// timeout, so that a pool with an invalid template fails only once per timeout.
func (l *Lifecycle) launch(s ClaimState, now time.Time) Step {
	claim := s.Claim
	launched := claim.DeepCopy().Conditions().Get(v1.ConditionLaunched)
	if launched.Reason == string(cloudprovider.Permanent) {
		return Step{Again: l.left(claim, now)}
	}
	return Step{Effects: []Effect{CreateInstance{Claim: claim.DeepCopy(), Group: launchedTogether(s)}}}
}

// Created returns the next step after the provider's answer to CreateInstance. answer is the NodeClaim that the provider returned, or nil
// if err is not nil.
func (l *Lifecycle) Created(claim, answer *v1.NodeClaim, err error, now time.Time) Step {
	if err == nil && answer == nil {
		err = cloudprovider.NewTransientError(errors.New("the provider returned neither an instance nor an error"))
	}
	if err == nil {
		launched := launchedClaim(claim, answer, now)
		// The instance is not recorded in the claim yet, so no other step knows it. Therefore, if the claim was deleted during the launch,
		// this step must terminate the instance.
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

// launchFailed writes the error to the claim. The claim stays, and its launch is tried again. The wait before the next try is as long as
// the age of the claim, but at least one second and at most one minute. So waits double without a counter. The cloud may request a
// different wait. If only an operator can fix the error, the wait is a minute (Unauthorized), or lasts until the claim's timeout
// (Permanent).
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

// launchedClaim returns the claim with the labels, annotations and status that the provider reports for its instance. If a label is in
// both, the claim's value is used. If an annotation is in both, the value of the provider's answer is used.
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

// merged returns the entries of both maps. If both maps have a key, the value of the second map is used.
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

// Feedback records a failed launch for the planner. It updates the stock estimate of the offerings in the error, and reports whether to
// plan at once because the claim's pods need another node. estimate may be nil.
func Feedback(err error, estimate *StockEstimate, now time.Time) (planNow bool) {
	if estimate != nil {
		if keys := cloudprovider.ExhaustedOfferings(err); len(keys) > 0 {
			estimate.Exhausted(keys, now)
		}
	}
	return cloudprovider.LaunchAbandoned(err)
}

// launchedTogether returns the claims that are launched together with the claim or not at all: all claims of its launch group that are not
// Kept. The list is the same for every claim of the group. So all claims of the group request the same instances from the provider, even if
// some request them later, after a restart. It is nil if the claim has no group, if claims of the group are missing, or if fewer than two
// of them are not Kept.
func launchedTogether(s ClaimState) []*v1.NodeClaim {
	g, ok := groupOf(s)
	if !ok || g.there != g.Claims || g.kept > g.Claims-2 {
		return nil
	}
	members := []*v1.NodeClaim{s.Claim.DeepCopy()}
	for _, claim := range s.Group {
		of, ok := v1.LaunchGroupOf(claim)
		if ok && of.Name == g.Name && !of.Kept && claim.DeletionTimestamp == nil && claim.UID != s.Claim.UID {
			members = append(members, claim.DeepCopy())
		}
	}
	slices.SortFunc(members, func(a, b *v1.NodeClaim) int { return cmp.Compare(a.UID, b.UID) })
	return members
}

// Launch asks the provider for the claim's instance and returns the answer for Lifecycle.Created. If the provider can launch all claims of
// a group or none (cloudprovider.GroupCreator), each claim makes the same call, and the provider answers all calls with the same instances.
// Otherwise, each claim is launched by Create, and the group is given up if one of the launches fails. The error is the provider's, or an
// *option.ArgumentError if the provider or the claim is nil.
func (e CreateInstance) Launch(ctx context.Context, provider cloudprovider.CloudProvider) (*v1.NodeClaim, error) {
	switch {
	case provider == nil:
		return nil, option.Missing("CreateInstance.Launch", "the provider")
	case e.Claim == nil:
		return nil, option.Missing("CreateInstance.Launch", "the claim")
	}
	if len(e.Group) > 1 {
		if groups, ok := cloudprovider.As[cloudprovider.GroupCreator](provider); ok {
			created, err := groups.CreateGroup(ctx, e.Group)
			if !errors.Is(err, errors.ErrUnsupported) {
				return e.answer(created, err)
			}
		}
	}
	return provider.Create(ctx, e.Claim)
}

// answer returns the claim in the list created that the provider returned for e.Claim. It returns an error if the list has no such claim.
func (e CreateInstance) answer(created []*v1.NodeClaim, err error) (*v1.NodeClaim, error) {
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(e.Group, func(claim *v1.NodeClaim) bool { return claim != nil && claim.UID == e.Claim.UID })
	if at < 0 || at >= len(created) || created[at] == nil {
		return nil, cloudprovider.NewTransientError(fmt.Errorf("launching nodeclaim %q with its group: the provider returned no instance for it, and %d results for %d nodeclaims", e.Claim.Name, len(created), len(e.Group)))
	}
	return created[at], nil
}

// LaunchCosts gives providers the costs that plans use, so that launches follow the plan's preferences: costs include interruptions of spot
// instances, fees and discounts, and not only prices. Commitments are not included: a plan that needs a commitment restricts the NodeClaim
// to what it covers. The zero value is ready to use; before it has observed a snapshot with a cost model, the cost of an offering is its
// price. It is safe for concurrent use.
type LaunchCosts struct {
	mu      sync.Mutex
	of      *scheduling.CostModel
	current *scheduling.OfferingCosts
}

// Observe notes the cost model of a snapshot that plans are made from. A cost model that Compile refuses is treated like no cost model. It
// does nothing if l or s is nil.
func (l *LaunchCosts) Observe(s *scheduling.Snapshot) {
	if l == nil || s == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.of == s.CostModel || reflect.DeepEqual(l.of, s.CostModel) {
		l.of = s.CostModel
		return
	}
	costs, err := scheduling.NewOfferingCosts(s)
	if err != nil {
		costs = nil
	}
	l.of, l.current = s.CostModel, costs
}

// Of returns a function that returns the costs of a NodePool's nodes, for a provider's option such as aws.Options.LaunchCost. It returns
// nil if the cost of each offering is its price. Its results stay unchanged when other snapshots are observed.
func (l *LaunchCosts) Of(pool v1.PoolKey) cloudprovider.LaunchCost {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	costs := l.current
	l.mu.Unlock()
	if costs == nil {
		return nil
	}
	return func(t *cloudprovider.InstanceType, o *cloudprovider.Offering) float64 { return costs.Of(pool, t, o) }
}
