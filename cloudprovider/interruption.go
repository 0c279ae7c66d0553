package cloudprovider

import (
	"context"
	"time"
)

// InterruptionKind says what will happen to an instance, or has happened.
type InterruptionKind string

const (
	// InterruptionSpotReclaim: the cloud takes a spot instance back at the deadline.
	InterruptionSpotReclaim InterruptionKind = "SpotReclaim"
	// InterruptionRebalance: the cloud expects to reclaim a spot instance, but has not decided.
	InterruptionRebalance InterruptionKind = "Rebalance"
	// InterruptionReservationReclaim: the cloud takes reserved capacity back at the deadline.
	InterruptionReservationReclaim InterruptionKind = "ReservationReclaim"
	// InterruptionMaintenance: the cloud will stop, restart or retire the instance for maintenance.
	InterruptionMaintenance InterruptionKind = "Maintenance"
	// InterruptionStopped: the instance is being stopped, or was stopped.
	InterruptionStopped InterruptionKind = "Stopped"
	// InterruptionTerminated: the instance is being terminated, or was terminated.
	InterruptionTerminated InterruptionKind = "Terminated"
	// InterruptionUnhealthy: the cloud reports that the instance is broken; its node can't be drained normally.
	InterruptionUnhealthy InterruptionKind = "Unhealthy"
)

// Interruption is one message about one instance.
type Interruption struct {
	// ID identifies the delivery, for AckInterruptions. If the message is delivered again, the ID may differ.
	ID string
	// Kind is the kind of the message.
	Kind InterruptionKind
	// ProviderID is the provider ID of the instance. It may belong to another cluster; the reader looks it up.
	ProviderID string
	// Time is when the cloud sent the message; zero if the message does not say so.
	Time time.Time
	// Deadline is when the instance stops working; zero if no deadline is known.
	Deadline time.Time
	// Message is the cloud's own explanation, for people. Optional.
	Message string
}

// InterruptionSource is for clouds that announce interruptions of instances.
//
//   - CP-INTERRUPT-01: a message is delivered at least once: it is delivered again until it is acknowledged. Why: the reader may
//     crash between reading and acting. Readers therefore act idempotently.
//   - CP-INTERRUPT-02: messages that mean nothing to a cluster, or that can't be parsed, never reach the reader; the
//     source removes them itself. Why: a poisonous message would come back forever.
//   - CP-INTERRUPT-03: Receive waits without using the processor, returns as soon as there is one message, and ends
//     with ctx's error when ctx does. Why: notice is short, and a poll would eat it.
//   - CP-INTERRUPT-04: several readers may call at once; a message not yet due for redelivery goes to one of them.
//     Why: a storm of reclaims needs more than one.
//   - CP-INTERRUPT-05: acknowledging a message twice, or an unknown message, is not an error. Why: answers get lost.
//   - CP-INTERRUPT-06: a message is about one instance. Why: acting on one and failing on another must not repeat both.
type InterruptionSource interface {
	// ReceiveInterruptions waits for messages and returns at least one, or an error.
	ReceiveInterruptions(ctx context.Context) ([]Interruption, error)
	// AckInterruptions acknowledges the deliveries with these IDs.
	AckInterruptions(ctx context.Context, ids ...string) error
}
