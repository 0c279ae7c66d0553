package provisioning

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/api/option"
	v1 "github.com/drawknife/drawknife/api/v1"
)

// InstanceState is what is known of a claim's instance.
type InstanceState int

// The states.
const (
	// InstanceUnasked: the provider was not asked just now.
	InstanceUnasked InstanceState = iota
	// InstanceThere: the provider knows the instance (AskInstance).
	InstanceThere
	// InstanceEnding: the provider has been asked to end the instance, and knows it still (TerminateInstance).
	InstanceEnding
	// InstanceGone: the provider knows of no such instance.
	InstanceGone
)

const (
	// terminationEvery is how often a provider is asked to end an instance until it is gone.
	terminationEvery = 5 * time.Second
	// soonAfter is how often for the first terminationEvery: instances that go at once need not hold up their node.
	soonAfter = time.Second
)

// FindInstance looks for an instance that bears the claim's UID (CloudProvider.List): its launch may have been answered to
// somebody who is not there any more. Its provider ID is handed in as ClaimTermination.Found.
type FindInstance struct{ Claim *v1.NodeClaim }

// AskInstance asks the provider whether the claim's instance is there (CloudProvider.Get), and observes the answer.
type AskInstance struct{ Claim *v1.NodeClaim }

// String names the effect and its object.
func (e FindInstance) String() string { return "find instance of " + nameOf(e.Claim) }
func (e AskInstance) String() string  { return "ask for instance of " + nameOf(e.Claim) }

// ClaimTermination is what is observed of a claim that is being deleted. Nothing in it is changed.
type ClaimTermination struct {
	// Claim as stored.
	Claim *v1.NodeClaim
	// Nodes are those with the claim's provider ID.
	Nodes []*corev1.Node
	// Searched tells that FindInstance was done just now, and Found is the provider ID it gave; empty for none.
	Searched bool
	Found    string
	// Instance is what the provider answered just now to TerminateInstance.
	Instance InstanceState
}

// TerminateClaim is what a claim that is being deleted needs at the time now: its deadline is set, its nodes
// are deleted and waited for, its instance is ended until the provider knows it no more, and then its finalizer goes. A
// claim whose launch was never answered is looked for by its UID first, so that no instance stays behind.
func TerminateClaim(s ClaimTermination, now time.Time) Step {
	claim := s.Claim
	if claim == nil || claim.DeletionTimestamp == nil || !slices.Contains(claim.Finalizers, v1.TerminationFinalizer) {
		return Step{}
	}
	if step, ok := setDeadline(claim); ok {
		return step
	}
	// Also nodes that joined and were never registered: nobody else may be there to remove them.
	if claim.Status.ProviderID != "" && len(s.Nodes) > 0 {
		var step Step
		for _, node := range s.Nodes {
			if node.DeletionTimestamp == nil {
				step.Effects = append(step.Effects, DeleteNode{Name: node.Name, UID: node.UID})
			}
		}
		return step // the nodes' own termination goes on; asked again when they are gone
	}
	if claim.Status.ProviderID == "" {
		return terminateUnknown(s)
	}
	if s.Instance == InstanceGone {
		return withoutFinalizer(claim)
	}
	return terminate(claim, s.Instance, now)
}

// terminateUnknown ends a claim that does not know its instance.
func terminateUnknown(s ClaimTermination) Step {
	switch {
	case !s.Searched:
		return Step{Effects: []Effect{FindInstance{s.Claim.DeepCopy()}}}
	case s.Found == "":
		return withoutFinalizer(s.Claim)
	}
	claim := s.Claim.DeepCopy()
	claim.Status.ProviderID = s.Found
	return Step{Effects: []Effect{PutClaim{Claim: claim, IfGone: []Effect{TerminateInstance{claim.DeepCopy()}}}}}
}

// terminate asks for the end of the instance, shows that on the claim, and asks again until it is gone.
func terminate(claim *v1.NodeClaim, state InstanceState, now time.Time) Step {
	out := claim.DeepCopy()
	out.Conditions().SetTrue(v1.ConditionInstanceTerminating, now)
	again := terminationEvery
	if asked := out.Conditions().Get(v1.ConditionInstanceTerminating).LastTransitionTime; now.Sub(asked.Time) < terminationEvery {
		again = soonAfter
	}
	if state == InstanceEnding {
		return Step{Again: again}
	}
	step := Step{Effects: []Effect{TerminateInstance{claim.DeepCopy()}}, Again: again}
	if !equalClaims(claim, out) {
		// A claim whose finalizer somebody took away must not keep its instance.
		step.Effects = append([]Effect{PutClaim{Claim: out, IfGone: step.Effects}}, step.Effects...)
	}
	return step
}

// setDeadline writes on the claim when its drain ends whatever is left.
func setDeadline(claim *v1.NodeClaim) (Step, bool) {
	if claim.Spec.TerminationGracePeriod == nil || claim.Annotations[v1.NodeClaimTerminationTimestampAnnotationKey] != "" {
		return Step{}, false
	}
	deadline := claim.DeletionTimestamp.Add(claim.Spec.TerminationGracePeriod.Duration).UTC().Format(time.RFC3339)
	out := claim.DeepCopy()
	out.Annotations = merged(out.Annotations, map[string]string{v1.NodeClaimTerminationTimestampAnnotationKey: deadline})
	return Step{
		Effects: []Effect{PutClaim{Claim: out}},
		Events:  []Event{claimEvent(claim, EventTerminationGracePeriodExpiring, "All pods will be deleted by "+deadline)},
	}, true
}

// DeadlineOf is when a claim's drain ends whatever is left; zero is never. The error is for an annotation that is no
// RFC 3339 time: there is no deadline then, since pods that were to be spared can't be brought back.
func DeadlineOf(claim *v1.NodeClaim) (time.Time, error) {
	if claim == nil {
		return time.Time{}, option.Missing("DeadlineOf", "the claim")
	}
	text := claim.Annotations[v1.NodeClaimTerminationTimestampAnnotationKey]
	if text == "" {
		return time.Time{}, nil
	}
	deadline, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return time.Time{}, fmt.Errorf("nodeclaim %s: metadata.annotations[%s] is %q: write a time such as 2026-01-31T12:00:00Z: %w",
			claim.Name, v1.NodeClaimTerminationTimestampAnnotationKey, text, err)
	}
	return deadline, nil
}

func withoutFinalizer(claim *v1.NodeClaim) Step {
	out := claim.DeepCopy()
	out.Finalizers = slices.DeleteFunc(out.Finalizers, func(f string) bool { return f == v1.TerminationFinalizer })
	return Step{Effects: []Effect{PutClaim{Claim: out}}}
}
