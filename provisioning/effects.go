package provisioning

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/drawknife/drawknife/api/option"
	v1 "github.com/drawknife/drawknife/api/v1"
)

// Step is the next action of a state machine, and when to call it again. The caller carries out the effects in order, stops at the
// first that fails, publishes the events, and calls the state machine again with the new state. The state machine keeps no memory
// of earlier effects, so a crash between two effects loses nothing. An empty Step without Again means that there is nothing to do
// until the state changes.
//
// Any object may disappear before its effect is carried out. The step ends if the object of a PutNode or PutClaim is gone, or was replaced
// by an object of the same name with another UID, because the effects after it were decided for the old object. Remove the object from the
// observed state and call the state machine again. Deleting or terminating something that is gone is a success, and the step continues.
type Step struct {
	// Effects, in the order in which to carry them out.
	Effects []Effect
	// Events to publish; they may get lost.
	Events []Event
	// Again is the time after which to call the state machine again if the state does not change earlier; 0 means never.
	Again time.Duration
}

// Effect is one action: one of the types below. Every effect is idempotent. Do passes it to a Handler.
type Effect interface {
	// String names the action and its object.
	String() string
	// do carries out the effect: it calls the handler's method for this kind of effect.
	do(ctx context.Context, handler Handler) error
}

// PutClaim stores the metadata and status of Claim. The stored object must still have its resource version; otherwise observe it
// again.
type PutClaim struct {
	Claim *v1.NodeClaim
	// IfGone are effects that remove what only the claim referred to. If the claim is gone, carry them out in this order, instead of the
	// rest of the step. It is nil if nothing needs to be removed.
	IfGone []Effect
}

// DeleteClaim deletes the claim in the API; its finalizer keeps it until its instance is terminated.
type DeleteClaim struct {
	Name string
	UID  types.UID
	// Reason says why the claim is deleted. It becomes the value of a metric label.
	Reason DisruptedReason
}

// CreateInstance asks the provider to launch the claim's instance, and passes the result to Lifecycle.Created. Its method Launch makes
// the call.
type CreateInstance struct {
	Claim *v1.NodeClaim
	// Group contains all claims of the claim's launch group (v1.LaunchGroup), including Claim, ordered by UID: all of them launch now. It
	// is nil for a claim that is launched alone.
	Group []*v1.NodeClaim
}

// AskGates calls the registration gates for the claim; their answers become ClaimState.Gates.
type AskGates struct{ Claim *v1.NodeClaim }

// PutNode stores the metadata, taints and spec.unschedulable of Node. The stored object must still have its resource version;
// otherwise observe it again.
type PutNode struct{ Node *corev1.Node }

// DeleteNode deletes the node in the API; its finalizer keeps it until it is drained.
type DeleteNode struct {
	Name string
	UID  types.UID
}

// TerminateInstance asks the provider to terminate the claim's instance (CloudProvider.Delete); the answer is the instance's new
// state.
type TerminateInstance struct{ Claim *v1.NodeClaim }

// EvictPod evicts the pod by the eviction API, if it still has the UID.
type EvictPod struct {
	Key types.NamespacedName
	UID types.UID
	// Deadline is when the pod will be deleted instead of evicted; zero means never.
	Deadline time.Time
	// Why is the reason for which its node is drained (EvictionReason). The event on the pod contains it.
	Why string
}

// DeletePod deletes the pod with the grace period, if it still has the UID, regardless of PodDisruptionBudgets: the deadline of its
// node is near.
type DeletePod struct {
	Key types.NamespacedName
	UID types.UID
	// Grace is at least a second.
	Grace time.Duration
	// Why is the reason for which its node is drained (EvictionReason). The event on the pod contains it.
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

// DisruptedReason says why a claim was deleted: the value of a metric label.
type DisruptedReason string

// Reasons for which package provisioning deletes claims.
const (
	ReasonInsufficientCapacity DisruptedReason = "insufficient_capacity"
	ReasonNodeClassNotReady    DisruptedReason = "nodeclass_not_ready"
	ReasonLaunchTimeout        DisruptedReason = "launch_timeout"
	ReasonRegistrationTimeout  DisruptedReason = "registration_timeout"
	// ReasonInitializationTimeout does not exist in Karpenter.
	ReasonInitializationTimeout DisruptedReason = "initialization_timeout"
	// ReasonGroupIncomplete: other claims of the claim's launch group could not be launched.
	ReasonGroupIncomplete  DisruptedReason = "launch_group_incomplete"
	ReasonExpired          DisruptedReason = "expired"
	ReasonGarbageCollected DisruptedReason = "garbage_collected"
	// ReasonScaledDown is used for static pools.
	ReasonScaledDown DisruptedReason = "scaled_down"
)

// nameOf returns the name of an object, or "" if the object is nil.
func nameOf[T any, O interface {
	*T
	GetName() string
}](o O) string {
	if o == nil {
		return ""
	}
	return o.GetName()
}

// Event is a message for operators or owners of pods, which the caller publishes as a Kubernetes event.
type Event struct {
	// Kind, Namespace, Name and UID identify the object. UID may be empty.
	Kind      string
	Namespace string
	Name      string
	UID       types.UID
	// Warning is true for problems, false for normal operation.
	Warning bool
	// Reason is one of the Event constants.
	Reason EventReason
	// Message is one sentence.
	Message string
	// Every is the minimum time between two events with the same reason and object; nil means DefaultEventInterval.
	Every *time.Duration
}

// DefaultEventInterval is the minimum time between two equal events whose Every is nil.
const DefaultEventInterval = 2 * time.Minute

// every returns the interval as a value of Event.Every.
func every(interval time.Duration) *time.Duration { return &interval }

// EventReason names a kind of event. The words are those that existing alerts use.
type EventReason string

// The reasons of provisioning's events.
const (
	EventFailedScheduling               EventReason = "FailedScheduling"
	EventNominated                      EventReason = "Nominated"
	EventNoCompatibleInstanceTypes      EventReason = "NoCompatibleInstanceTypes"
	EventInsufficientCapacity           EventReason = "InsufficientCapacityError"
	EventUnregisteredTaintMissing       EventReason = "UnregisteredTaintMissing"
	EventFailedConsistencyCheck         EventReason = "FailedConsistencyCheck"
	EventTerminationGracePeriodExpiring EventReason = "TerminationGracePeriodExpiring"
	EventFailedDraining                 EventReason = "FailedDraining"
	EventAwaitingVolumeDetachment       EventReason = "AwaitingVolumeDetachment"
	EventEvicted                        EventReason = "Evicted"
	EventDisrupted                      EventReason = "Disrupted"
	// EventDriverMissing: the NodeClaim was planned with devices of a driver that has published nothing for some time.
	EventDriverMissing EventReason = "DeviceDriverMissing"
	// EventInvalidDoNotDisrupt: a pod's do-not-disrupt annotation is ignored because its value is invalid.
	EventInvalidDoNotDisrupt EventReason = "InvalidDoNotDisruptAnnotation"
	// EventLaunchHeldBack: the launch rate limiter or a NodePool limit delays a launch. Karpenter has no such event.
	EventLaunchHeldBack EventReason = "LaunchHeldBack"
	// EventLaunchFailed: an instance could not be launched, or a NodeClaim could not be stored. Karpenter has no such event.
	EventLaunchFailed EventReason = "LaunchFailed"
	// EventGroupGivenUp: a NodeClaim is deleted because other NodeClaims that its pods need could not be launched. Karpenter has no such
	// event.
	EventGroupGivenUp EventReason = "LaunchGroupGivenUp"
	// EventGarbageCollected: an orphaned NodeClaim, instance or Node is removed. Karpenter has no such event.
	EventGarbageCollected EventReason = "GarbageCollected"
)

// Intervals that differ from the default.
const (
	failedSchedulingEvery = 5 * time.Minute
	noCompatibleEvery     = time.Minute
)

// Handler carries out effects, with one method for each kind. A release that adds a kind of effect also adds a method: an old Handler then
// no longer compiles, so no effect is overlooked. Do calls the method for an effect.
type Handler interface {
	// PutClaim stores a claim, unless it is gone or was replaced: then skip the rest of its step.
	PutClaim(context.Context, PutClaim) error
	// DeleteClaim deletes a claim in the API; it is not an error if the claim is gone.
	DeleteClaim(context.Context, DeleteClaim) error
	// CreateInstance launches an instance, and passes the result to Lifecycle.Created.
	CreateInstance(context.Context, CreateInstance) error
	// FindInstance looks for an instance with the UID of the claim; the result becomes ClaimTermination.Found.
	FindInstance(context.Context, FindInstance) error
	// AskInstance asks the provider whether an instance exists; the answer is the instance's state.
	AskInstance(context.Context, AskInstance) error
	// TerminateInstance terminates an instance; the answer is the instance's state.
	TerminateInstance(context.Context, TerminateInstance) error
	// AskGates calls the registration gates; their answers become ClaimState.Gates.
	AskGates(context.Context, AskGates) error
	// PutNode stores a node, unless it is gone or was replaced: then skip the rest of its step.
	PutNode(context.Context, PutNode) error
	// DeleteNode deletes a node in the API; it is not an error if the node is gone.
	DeleteNode(context.Context, DeleteNode) error
	// EvictPod evicts a pod by the eviction API; it is not an error if the pod is gone.
	EvictPod(context.Context, EvictPod) error
	// DeletePod deletes a pod regardless of PodDisruptionBudgets; it is not an error if the pod is gone.
	DeletePod(context.Context, DeletePod) error
	// ScaleWorkload changes the number of replicas, unless the workload has changed since it was seen.
	ScaleWorkload(context.Context, ScaleWorkload) error
}

// Do calls the handler's method for the effect. The error is the handler's, or an *option.ArgumentError if the effect or the
// handler is nil.
func Do(ctx context.Context, effect Effect, handler Handler) error {
	switch {
	case effect == nil:
		return option.Missing("Do", "the effect")
	case handler == nil:
		return option.Missing("Do", "the handler")
	}
	return effect.do(ctx, handler)
}

func (e PutClaim) do(ctx context.Context, h Handler) error       { return h.PutClaim(ctx, e) }
func (e DeleteClaim) do(ctx context.Context, h Handler) error    { return h.DeleteClaim(ctx, e) }
func (e CreateInstance) do(ctx context.Context, h Handler) error { return h.CreateInstance(ctx, e) }
func (e FindInstance) do(ctx context.Context, h Handler) error   { return h.FindInstance(ctx, e) }
func (e AskInstance) do(ctx context.Context, h Handler) error    { return h.AskInstance(ctx, e) }
func (e TerminateInstance) do(ctx context.Context, h Handler) error {
	return h.TerminateInstance(ctx, e)
}
func (e AskGates) do(ctx context.Context, h Handler) error      { return h.AskGates(ctx, e) }
func (e PutNode) do(ctx context.Context, h Handler) error       { return h.PutNode(ctx, e) }
func (e DeleteNode) do(ctx context.Context, h Handler) error    { return h.DeleteNode(ctx, e) }
func (e EvictPod) do(ctx context.Context, h Handler) error      { return h.EvictPod(ctx, e) }
func (e DeletePod) do(ctx context.Context, h Handler) error     { return h.DeletePod(ctx, e) }
func (e ScaleWorkload) do(ctx context.Context, h Handler) error { return h.ScaleWorkload(ctx, e) }

// RefusedEffectError is an effect that a Handler does not support.
type RefusedEffectError struct{ Effect Effect }

// Error names the effect.
func (e *RefusedEffectError) Error() string {
	return fmt.Sprintf("cannot %v: there is no handler for it", e.Effect)
}

// RefuseEffects is a Handler that refuses everything with a *RefusedEffectError. Embed it in a Handler for only some kinds of effects, for
// example those of an Evictor. The compiler then does not report missing methods for new kinds, so a Handler for all kinds should not embed
// it.
type RefuseEffects struct{}

var _ Handler = RefuseEffects{}

// PutClaim refuses it.
func (RefuseEffects) PutClaim(_ context.Context, e PutClaim) error { return &RefusedEffectError{e} }

// DeleteClaim refuses it.
func (RefuseEffects) DeleteClaim(_ context.Context, e DeleteClaim) error {
	return &RefusedEffectError{e}
}

// CreateInstance refuses it.
func (RefuseEffects) CreateInstance(_ context.Context, e CreateInstance) error {
	return &RefusedEffectError{e}
}

// FindInstance refuses it.
func (RefuseEffects) FindInstance(_ context.Context, e FindInstance) error {
	return &RefusedEffectError{e}
}

// AskInstance refuses it.
func (RefuseEffects) AskInstance(_ context.Context, e AskInstance) error {
	return &RefusedEffectError{e}
}

// TerminateInstance refuses it.
func (RefuseEffects) TerminateInstance(_ context.Context, e TerminateInstance) error {
	return &RefusedEffectError{e}
}

// AskGates refuses it.
func (RefuseEffects) AskGates(_ context.Context, e AskGates) error { return &RefusedEffectError{e} }

// PutNode refuses it.
func (RefuseEffects) PutNode(_ context.Context, e PutNode) error { return &RefusedEffectError{e} }

// DeleteNode refuses it.
func (RefuseEffects) DeleteNode(_ context.Context, e DeleteNode) error { return &RefusedEffectError{e} }

// EvictPod refuses it.
func (RefuseEffects) EvictPod(_ context.Context, e EvictPod) error { return &RefusedEffectError{e} }

// DeletePod refuses it.
func (RefuseEffects) DeletePod(_ context.Context, e DeletePod) error { return &RefusedEffectError{e} }

// ScaleWorkload refuses it.
func (RefuseEffects) ScaleWorkload(_ context.Context, e ScaleWorkload) error {
	return &RefusedEffectError{e}
}
