package provisioning

import (
	"time"

	"k8s.io/apimachinery/pkg/types"
)

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
	// Every is how long not to repeat the same event, by reason and object; nil is DefaultEventInterval.
	Every *time.Duration
}

// DefaultEventInterval is how long not to repeat an event whose Every is nil.
const DefaultEventInterval = 2 * time.Minute

// every returns an event's interval.
func every(interval time.Duration) *time.Duration { return &interval }

// EventReason names a kind of event. The words are those that existing alerts use (provisioning specification, section 16).
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
	// EventDriverMissing: a driver of devices that the pods of the NodeClaim's node were planned with has published nothing for some time.
	EventDriverMissing EventReason = "DeviceDriverMissing"
	// EventInvalidDoNotDisrupt: a pod's do-not-disrupt annotation is ignored because its value is invalid.
	EventInvalidDoNotDisrupt EventReason = "InvalidDoNotDisruptAnnotation"
	// EventLaunchHeldBack: the launch rate limiter or a NodePool limit delays a launch. Karpenter has no such event.
	EventLaunchHeldBack EventReason = "LaunchHeldBack"
	// EventLaunchFailed: an instance could not be launched, or a NodeClaim could not be stored. Karpenter has no such event.
	EventLaunchFailed EventReason = "LaunchFailed"
	// EventGroupGivenUp: a NodeClaim is deleted because others that its pods need could not be launched. Karpenter has no such event.
	EventGroupGivenUp EventReason = "LaunchGroupGivenUp"
	// EventGarbageCollected: an orphaned NodeClaim, instance or Node is removed. Karpenter has no such event.
	EventGarbageCollected EventReason = "GarbageCollected"
)

// Intervals that differ from the default.
const (
	failedSchedulingEvery = 5 * time.Minute
	noCompatibleEvery     = time.Minute
)
