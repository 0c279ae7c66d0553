package provisioning

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/drawknife/drawknife/api/v1"
)

// Step is what a state machine wants done, and when it wants to be asked again. The caller does the effects in their
// order, stops at the first that fails, publishes the events, and asks again with what there is then: no effect relies
// on the ones before it having been remembered, so that a crash between two loses nothing. An empty Step with no Again
// has nothing to do until something changes.
//
// Any object may vanish between the look and the effect. A PutNode or PutClaim whose object is gone, or is another one of
// that name (its UID), ends the step: the effects after it were decided on an object that is no more. Drop the object
// from what is observed and ask again. To delete or to terminate what is gone is success: the step goes on.
type Step struct {
	// Effects in the order they are to be done.
	Effects []Effect
	// Events to publish; they may get lost.
	Events []Event
	// Again is when to ask again if nothing changes before; 0 is never.
	Again time.Duration
}

// Effect is one thing to do to the world: one of the types below that say so. Each may be done twice. Do hands it to a Handler.
type Effect interface {
	// String says what is to be done, in a word or two and the object's name.
	String() string
	// do calls the method of its kind.
	do(ctx context.Context, handler Handler) error
}

// PutClaim stores the claim's metadata and status as they are in Claim. The stored object must still be the one it was
// made from (its resource version): otherwise observe it again.
type PutClaim struct {
	Claim *v1.NodeClaim
	// IfGone are the effects to do instead of the rest of the step when the claim is gone, in their order: what only the
	// claim knew of would be left behind otherwise. Nil: nothing is left behind.
	IfGone []Effect
}

// DeleteClaim asks the API to delete the claim: its finalizer then holds it until it is torn down.
type DeleteClaim struct {
	Name string
	UID  types.UID
	// Reason is for metrics.
	Reason DisruptedReason
}

// CreateInstance asks the provider to launch the claim's instance, and hands the answer to Lifecycle.Created.
type CreateInstance struct{ Claim *v1.NodeClaim }

// AskGates asks the registration gates about the claim, and hands their answers in as ClaimState.Gates.
type AskGates struct{ Claim *v1.NodeClaim }

// PutNode stores the node's metadata, taints and cordon (spec.unschedulable) as they are in Node. The stored object must still be the one it was made
// from: otherwise observe anew.
type PutNode struct{ Node *corev1.Node }

// DeleteNode asks the API to delete the node: its finalizer then holds it until it is drained.
type DeleteNode struct {
	Name string
	UID  types.UID
}

// TerminateInstance asks the provider to end the claim's instance (CloudProvider.Delete), and observes its answer as
// the instance's state.
type TerminateInstance struct{ Claim *v1.NodeClaim }

// EvictPod asks the eviction API to let the pod go, on the condition that it still is the one with the UID.
type EvictPod struct {
	Key types.NamespacedName
	UID types.UID
	// Deadline is when the pod will be deleted instead; zero is never.
	Deadline time.Time
	// Why its node goes, for the pod's event (EvictionReason).
	Why string
}

// DeletePod deletes the pod with the grace period, on the condition that it still is the one with the UID: its node's
// deadline comes, whatever budgets say.
type DeletePod struct {
	Key types.NamespacedName
	UID types.UID
	// Grace is at least a second.
	Grace time.Duration
	// Why its node goes, for the pod's event (EvictionReason).
	Why string
}

// String names the effect and its object.
func (e PutClaim) String() string { return "put nodeclaim " + nameOf(e.Claim) }
func (e DeleteClaim) String() string {
	return "delete nodeclaim " + e.Name + " (" + string(e.Reason) + ")"
}
func (e CreateInstance) String() string    { return "create instance of " + nameOf(e.Claim) }
func (e AskGates) String() string          { return "ask gates of " + nameOf(e.Claim) }
func (e PutNode) String() string           { return "put node " + nameOf(e.Node) }
func (e DeleteNode) String() string        { return "delete node " + e.Name }
func (e TerminateInstance) String() string { return "terminate instance of " + nameOf(e.Claim) }
func (e EvictPod) String() string          { return "evict pod " + e.Key.String() }
func (e DeletePod) String() string         { return "delete pod " + e.Key.String() }

// DisruptedReason is why a claim was given up: the value of a metric's label.
type DisruptedReason string

// The reasons that provisioning has.
const (
	ReasonInsufficientCapacity DisruptedReason = "insufficient_capacity"
	ReasonNodeClassNotReady    DisruptedReason = "nodeclass_not_ready"
	ReasonLaunchTimeout        DisruptedReason = "launch_timeout"
	ReasonRegistrationTimeout  DisruptedReason = "registration_timeout"
	// ReasonInitializationTimeout is not the reference's.
	ReasonInitializationTimeout DisruptedReason = "initialization_timeout"
	ReasonExpired               DisruptedReason = "expired"
	ReasonGarbageCollected      DisruptedReason = "garbage_collected"
	// ReasonScaledDown is a static pool's.
	ReasonScaledDown DisruptedReason = "scaled_down"
)

// nameOf is the name of an object, empty for nil.
func nameOf[T any, O interface {
	*T
	GetName() string
}](o O) string {
	if o == nil {
		return ""
	}
	return o.GetName()
}
