package aws

import (
	"time"

	"github.com/drawknife/drawknife/aws/internal/batch"
	"github.com/drawknife/drawknife/aws/internal/interruption"
	"github.com/drawknife/drawknife/aws/internal/launch"
)

// LaunchFailure is one error that EC2 returned for a launch.
type LaunchFailure struct {
	// Code is EC2's error code, for example "InsufficientInstanceCapacity".
	Code string
	// InstanceType, Zone, ZoneID and CapacityType of the request. ZoneID is empty if the class's subnet has no zone ID.
	InstanceType, Zone, ZoneID, CapacityType string
}

// MergedCall is one attempt to send several EC2 calls as one call. It is reported once, even if several callers share its errors.
type MergedCall struct {
	// Batcher is the name of the batcher.
	Batcher string
	// Number counts the attempts of a batch from 1.
	Number int
	// Size is the number of requests in the attempt.
	Size int
	// Waited is how long the batch's first call waited until the batch was sent.
	Waited time.Duration
	// Errs are the distinct errors, in the order of the requests.
	Errs []error
}

// InterruptedInstance identifies an instance of the cluster about which AWS reports something.
type InterruptedInstance struct {
	// ProviderID as in spec.providerID of its node.
	ProviderID string
	// InstanceType, Zone and CapacityType may be empty. If they are set, a spot interruption makes the offering unavailable for a while.
	InstanceType, Zone, CapacityType string
	// ReservationID is the ID of the reservation that the instance runs in, or empty if it runs in none.
	ReservationID string
	// Tenancy is the value of the label karpenter.k8s.aws/instance-tenancy: a spot interruption closes the offerings of this tenancy. Empty
	// means default.
	Tenancy string
}

// InterruptionKind is the kind of a report by AWS about an instance. Its value can be used as a metric label.
type InterruptionKind string

// Kinds of interruptions.
const (
	SpotInterrupted                InterruptionKind = InterruptionKind(interruption.SpotInterrupted)
	RebalanceRecommendation        InterruptionKind = InterruptionKind(interruption.RebalanceRecommendation)
	InstanceStopped                InterruptionKind = InterruptionKind(interruption.InstanceStopped)
	InstanceTerminated             InterruptionKind = InterruptionKind(interruption.InstanceTerminated)
	ScheduledChange                InterruptionKind = InterruptionKind(interruption.ScheduledChange)
	CapacityReservationInterrupted InterruptionKind = InterruptionKind(interruption.CapacityReservationInterrupted)
	// InstanceStatus, SystemStatus and EventStatus do not come from messages of the queue: EC2 returns them when the provider asks for the
	// status of instances.
	InstanceStatus InterruptionKind = InterruptionKind(interruption.InstanceStatus)
	SystemStatus   InterruptionKind = InterruptionKind(interruption.SystemStatus)
	EventStatus    InterruptionKind = InterruptionKind(interruption.EventStatus)
	// InterruptionNoOp is a message that names no instance or is irrelevant.
	InterruptionNoOp InterruptionKind = InterruptionKind(interruption.NoOp)
)

// InterruptionMessage describes a message of the queue, for metrics.
type InterruptionMessage struct {
	// Kind of its event.
	Kind InterruptionKind
	// Latency is the time from sending to receiving; negative if the time of sending is unknown.
	Latency time.Duration
	// Ours is true if the message names at least one instance of the cluster.
	Ours bool
}

// The internal packages don't import this package, so these functions convert their reports and pass them to the options.

func (o *Options) observeFleetErrors() func(launch.Failure) {
	if o.OnFleetError == nil {
		return nil
	}
	return func(f launch.Failure) { o.OnFleetError(LaunchFailure(f)) }
}

func (o *Options) observeBatches() func(batch.Attempt) {
	if o.OnBatch == nil {
		return nil
	}
	return func(a batch.Attempt) { o.OnBatch(MergedCall(a)) }
}

func (o *Options) observeMessages() func(interruption.Message) {
	if o.OnInterruption == nil {
		return nil
	}
	return func(m interruption.Message) {
		o.OnInterruption(InterruptionMessage{Kind: InterruptionKind(m.Kind), Latency: m.Latency, Ours: m.Ours})
	}
}

func (o *Options) observeUnhealthy() func(interruption.Kind, interruption.Instance) {
	if o.OnUnhealthy == nil {
		return nil
	}
	return func(kind interruption.Kind, i interruption.Instance) {
		o.OnUnhealthy(InterruptionKind(kind), InterruptedInstance(i))
	}
}

// findInstance returns Options.FindInstance with the internal type as its result, or nil if FindInstance is nil.
func (o *Options) findInstance() func(string) (interruption.Instance, bool) {
	if o.FindInstance == nil {
		return nil
	}
	return func(id string) (interruption.Instance, bool) {
		i, ok := o.FindInstance(id)
		return interruption.Instance(i), ok
	}
}
