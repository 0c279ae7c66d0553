package provisioning

import (
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// Event is something that an operator or a pod's owner should hear of: what the caller publishes as a Kubernetes event.
type Event struct {
	// Kind, Namespace, Name and UID say whose it is. UID may be empty.
	Kind      string
	Namespace string
	Name      string
	UID       types.UID
	// Warning events report trouble; the others are the course of things.
	Warning bool
	// Reason is one of the Event constants.
	Reason EventReason
	// Message is one sentence.
	Message string
	// Every is for how long the same event, by reason and object, need not be repeated; zero is DefaultEventInterval.
	Every time.Duration
}

// DefaultEventInterval is for how long an event need not be repeated if it does not say.
const DefaultEventInterval = 2 * time.Minute

// EventReason names a kind of event. The words are those that operators' alerts know (provisioning specification,
// section 16).
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
	// EventDriverMissing is on the NodeClaim of a node whose drivers of devices, which pods were planned for, have published nothing for a while.
	EventDriverMissing EventReason = "DeviceDriverMissing"
	// EventInvalidDoNotDisrupt: a pod's do-not-disrupt annotation is ignored, since its value means nothing.
	EventInvalidDoNotDisrupt EventReason = "InvalidDoNotDisruptAnnotation"
	// EventLaunchHeldBack is not the reference's: a launch that the launch rate limiter or a limit holds back.
	EventLaunchHeldBack EventReason = "LaunchHeldBack"
	// EventLaunchFailed is not the reference's: an instance could not be launched, or a NodeClaim not be stored.
	EventLaunchFailed EventReason = "LaunchFailed"
	// EventGarbageCollected is not the reference's: a claim, an instance or a Node that has lost what it belongs to is ended.
	EventGarbageCollected EventReason = "GarbageCollected"
)

// Intervals that differ from the default.
const (
	failedSchedulingEvery = 5 * time.Minute
	noCompatibleEvery     = time.Minute
)
