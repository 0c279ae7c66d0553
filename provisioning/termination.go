package provisioning

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/api/option"
	v1 "github.com/drawknife/drawknife/api/v1"
)

// InstanceState is the known state of a claim's instance.
type InstanceState int

// The states.
const (
	// InstanceUnasked: the provider has not been asked.
	InstanceUnasked InstanceState = iota
	// InstanceThere: the instance exists (AskInstance).
	InstanceThere
	// InstanceEnding: the instance is being terminated (TerminateInstance).
	InstanceEnding
	// InstanceGone: the instance does not exist.
	InstanceGone
)

const (
	// terminationEvery is the interval at which the provider's Delete is called until the instance is gone.
	terminationEvery = 5 * time.Second
	// soonAfter is the interval of the first calls. It is shorter than terminationEvery, so that the node of an instance that terminates
	// quickly is removed without delay.
	soonAfter = time.Second
)

// FindInstance looks for an instance with the claim's UID (CloudProvider.List): the response to its launch may have been lost in a
// crash. Its provider ID becomes ClaimTermination.Found.
type FindInstance struct{ Claim *v1.NodeClaim }

// AskInstance asks the provider whether the claim's instance exists (CloudProvider.Get), and records the answer.
type AskInstance struct{ Claim *v1.NodeClaim }

// String names the effect and its object.
func (e FindInstance) String() string { return "find instance of " + nameOf(e.Claim) }
func (e AskInstance) String() string  { return "ask for instance of " + nameOf(e.Claim) }

// ClaimTermination is the observed state of a claim that is being deleted. It is not changed.
type ClaimTermination struct {
	// Claim as stored.
	Claim *v1.NodeClaim
	// Nodes lists the nodes with the claim's provider ID.
	Nodes []*corev1.Node
	// Searched is true if FindInstance was just carried out, and Found is the provider ID that it returned, or empty if it found no
	// instance.
	Searched bool
	Found    string
	// Instance is the provider's latest answer to TerminateInstance.
	Instance InstanceState
}

// TerminateClaim returns the next step of a claim that is being deleted. It sets the deadline, deletes the nodes and waits for them,
// terminates the instance and waits until it is gone, and then removes the finalizer. If the response to the claim's launch was lost, it
// first looks for the instance by the claim's UID, so that no instance stays behind.
func TerminateClaim(s ClaimTermination, now time.Time) Step {
	claim := s.Claim
	if claim == nil || claim.DeletionTimestamp == nil || !slices.Contains(claim.Finalizers, v1.TerminationFinalizer) {
		return Step{}
	}
	if step, ok := setDeadline(claim); ok {
		return step
	}
	// All nodes of the claim are deleted. They include nodes that joined but were never registered, because no other code removes these
	// nodes.
	if claim.Status.ProviderID != "" && len(s.Nodes) > 0 {
		var step Step
		for _, node := range s.Nodes {
			if node.DeletionTimestamp == nil {
				step.Effects = append(step.Effects, DeleteNode{Name: node.Name, UID: node.UID})
			}
		}
		return step // the termination of the nodes continues; TerminateClaim is called again when they are gone
	}
	if claim.Status.ProviderID == "" {
		return terminateUnknown(s)
	}
	if s.Instance == InstanceGone {
		return withoutFinalizer(claim)
	}
	return terminate(claim, s.Instance, now)
}

// terminateUnknown terminates the instance of a claim without a provider ID, after it has found the instance.
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

// terminate terminates the instance, records the call in the claim's condition InstanceTerminating, and repeats the call until the instance
// is gone.
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
		// If another client has removed the claim's finalizer, the claim may no longer exist. Its instance must still be terminated, so the
		// effect is repeated in IfGone.
		step.Effects = append([]Effect{PutClaim{Claim: out, IfGone: step.Effects}}, step.Effects...)
	}
	return step
}

// setDeadline writes the deadline of the drain to the claim.
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

// DeadlineOf returns the deadline of a claim's drain; zero means none. The error is for an annotation that is not an RFC 3339 time. Then
// there is no deadline, because wrongly deleted pods can't be brought back.
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
