package provisioning

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/drawknife/drawknife/api/v1"
)

// Step is the next action of a state machine, and when to call it again. The caller carries out the effects in order, stops at the
// first that fails, publishes the events, and calls the state machine again with the new state. The state machine keeps no memory
// of earlier effects, so a crash between two effects loses nothing. An empty Step without Again means that there is nothing to do
// until the state changes.
//
// Any object may disappear before its effect. If the object of a PutNode or PutClaim is gone, or was replaced by another one of the
// same name (with another UID), the step ends, because the effects after it were decided for the old object. Remove the object from
// the observed state and call the state machine again. Deleting or terminating something that is gone is a success, and the step
// continues.
type Step struct {
	// Effects, in the order in which to carry them out.
	Effects []Effect
	// Events to publish; they may get lost.
	Events []Event
	// Again is when to call again if nothing changes before; 0 means never.
	Again time.Duration
}

// Effect is one action: one of the types below. Every effect is idempotent. Do passes it to a Handler.
type Effect interface {
	// String names the action and its object.
	String() string
	// do calls the method of its kind.
	do(ctx context.Context, handler Handler) error
}

// PutClaim stores the metadata and status of Claim. The stored object must still have its resource version; otherwise observe it
// again.
type PutClaim struct {
	Claim *v1.NodeClaim
	// IfGone are the effects to carry out instead of the rest of the step if the claim is gone, in order, to remove what only the
	// claim referred to. Nil if there is nothing to remove.
	IfGone []Effect
}

// DeleteClaim deletes the claim in the API; its finalizer keeps it until its instance is terminated.
type DeleteClaim struct {
	Name string
	UID  types.UID
	// Reason is for metrics.
	Reason DisruptedReason
}

// CreateInstance asks the provider to launch the claim's instance, and passes the result to Lifecycle.Created. Its method Launch makes
// the call.
type CreateInstance struct {
	Claim *v1.NodeClaim
	// Group are the claims of the claim's launch group (v1.LaunchGroup), itself included, ordered by UID: all of them launch now. Nil
	// for a claim that launches on its own.
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
	// Deadline is when the pod will be deleted instead; zero means never.
	Deadline time.Time
	// Why its node goes, for the pod's event (EvictionReason).
	Why string
}

// DeletePod deletes the pod with the grace period, if it still has the UID, regardless of PodDisruptionBudgets: the deadline of its
// node is near.
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

// DisruptedReason says why a claim was deleted: the value of a metric label.
type DisruptedReason string

// The reasons in provisioning.
const (
	ReasonInsufficientCapacity DisruptedReason = "insufficient_capacity"
	ReasonNodeClassNotReady    DisruptedReason = "nodeclass_not_ready"
	ReasonLaunchTimeout        DisruptedReason = "launch_timeout"
	ReasonRegistrationTimeout  DisruptedReason = "registration_timeout"
	// ReasonInitializationTimeout does not exist in Karpenter.
	ReasonInitializationTimeout DisruptedReason = "initialization_timeout"
	// ReasonGroupIncomplete: others of the claim's launch group could not be launched.
	ReasonGroupIncomplete  DisruptedReason = "launch_group_incomplete"
	ReasonExpired          DisruptedReason = "expired"
	ReasonGarbageCollected DisruptedReason = "garbage_collected"
	// ReasonScaledDown is used for static pools.
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
