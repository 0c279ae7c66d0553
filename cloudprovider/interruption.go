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
	// InterruptionRebalance: the cloud expects to reclaim a spot instance, but has not decided to do it.
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
	// ID identifies the delivery, for AckInterruptions. If the message is delivered again, the ID may be different.
	ID string
	// Kind is the kind of the message.
	Kind InterruptionKind
	// ProviderID is the provider ID of the instance. The instance may belong to another cluster; the reader must check this.
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
//   - CP-INTERRUPT-02: messages that concern no instance, or that can't be parsed, never reach the reader. The source itself removes them.
//     Why: otherwise such a message would be delivered again forever.
//   - CP-INTERRUPT-03: ReceiveInterruptions waits without using the processor, and returns as soon as one message arrives. When ctx ends,
//     it returns ctx's error. Why: the time between notice and interruption is short, and polling would waste it.
//   - CP-INTERRUPT-04: several readers may call at once, and a message that is not yet due for redelivery goes to only one of them. Why: if
//     the cloud reclaims many instances at once, one reader is not enough.
//   - CP-INTERRUPT-05: acknowledging a message twice, or an unknown message, is not an error. Why: the response to an acknowledgement may
//     get lost.
//   - CP-INTERRUPT-06: a message is about one instance. Why: if a message were about two instances and acting on one of them failed, the
//     reader would have to act on both again.
type InterruptionSource interface {
	// ReceiveInterruptions waits for messages and returns at least one, or an error.
	ReceiveInterruptions(ctx context.Context) ([]Interruption, error)
	// AckInterruptions acknowledges the deliveries with these IDs.
	AckInterruptions(ctx context.Context, ids ...string) error
}
