package reconcilers

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/disruption"
	"github.com/drawknife/drawknife/provisioning"
)

// The type interruptions reads the cloud's interruption messages, and removes the affected nodes in time.
type interruptions struct {
	*remover
	source cloudprovider.InterruptionSource
}

const (
	// interruptionReaders is the number of parallel readers, so that many messages do not wait for a single reader.
	interruptionReaders = 4
	// interruptionRetryFirst and interruptionRetryMost are the shortest and the longest wait of a reader after an error.
	interruptionRetryFirst = time.Second
	interruptionRetryMost  = time.Minute
)

// NeedLeaderElection returns true: only one process reads messages.
func (r *interruptions) NeedLeaderElection() bool { return true }

// Start reads messages until ctx ends.
func (r *interruptions) Start(ctx context.Context) error {
	var group sync.WaitGroup
	for range interruptionReaders {
		group.Go(func() { r.read(ctx) })
	}
	group.Wait()
	return nil
}

func (r *interruptions) read(ctx context.Context) {
	retry := interruptionRetryFirst
	for ctx.Err() == nil {
		messages, err := r.source.ReceiveInterruptions(ctx)
		if err == nil {
			err = r.dealWith(ctx, messages)
		}
		if err == nil {
			retry = interruptionRetryFirst
			continue
		}
		if ctx.Err() == nil {
			r.log.Warn("cannot receive or handle interruption messages, retrying", "error", err)
		}
		rest(ctx, nil, retry)
		retry = min(2*retry, interruptionRetryMost)
	}
}

// dealWith handles messages and acknowledges those that it could handle. The other messages are delivered again.
func (r *interruptions) dealWith(ctx context.Context, messages []cloudprovider.Interruption) error {
	var done []string
	var first error
	for i := range messages {
		m := &messages[i]
		r.told.received.WithLabelValues(messageType(m.Kind)).Inc()
		if !m.Time.IsZero() {
			r.told.queueDuration.Observe(max(0, r.now().Sub(m.Time).Seconds()))
		}
		if err := r.interrupted(ctx, m); err != nil {
			if first == nil {
				first = fmt.Errorf("handling interruption %s of instance %s: %w", m.Kind, m.ProviderID, err)
			}
			continue
		}
		done = append(done, m.ID)
	}
	if len(done) == 0 {
		return first
	}
	if err := r.source.AckInterruptions(ctx, done...); err != nil {
		return err
	}
	r.told.deleted.Add(float64(len(done)))
	return first
}

// interruptionAttempts is the maximum number of attempts to write a claim while other clients write it at the same time.
const interruptionAttempts = 5

// interrupted carries out the action for one message. Messages about instances without a known claim are ignored.
func (r *interruptions) interrupted(ctx context.Context, m *cloudprovider.Interruption) error {
	for attempt := 1; ; attempt++ {
		err := r.act(ctx, m, attempt == 1)
		if !apierrors.IsConflict(err) || attempt == interruptionAttempts {
			return err
		}
		if !rest(ctx, nil, conflictRetry) {
			return ctx.Err()
		}
	}
}

func (r *interruptions) act(ctx context.Context, m *cloudprovider.Interruption, fresh bool) error {
	claims, err := claimsWithProviderID(ctx, r.client, m.ProviderID)
	if err != nil || len(claims) == 0 {
		return err
	}
	claim := claims[0]
	step := disruption.Interrupted(claim, *m, r.now())
	if fresh {
		r.soldOut(claim, m)
		r.announce(claim, m, step.Removal != nil)
	}
	if step.Removal == nil {
		return nil
	}
	return r.remove(ctx, step.Removal, claim.Status.NodeName)
}

// soldOut records that the cloud reclaims spot instances of this offering, so that the next launch uses another offering.
func (r *interruptions) soldOut(claim *v1.NodeClaim, m *cloudprovider.Interruption) {
	if m.Kind != cloudprovider.InterruptionSpotReclaim {
		return
	}
	if key, ok := r.offeringOf(claim); ok {
		now := r.now()
		r.stock.Exhausted([]cloudprovider.OfferingKey{key}, now)
		if r.ordinary(key) {
			r.market.Interrupted(key, now)
		}
	}
}

// announce publishes events on claim and node about the interruption.
func (r *interruptions) announce(claim *v1.NodeClaim, m *cloudprovider.Interruption, leaves bool) {
	reason, text := interruptionEvent(m.Kind)
	if !m.Deadline.IsZero() {
		text += " at " + m.Deadline.UTC().Format(time.RFC3339)
	}
	if m.Message != "" {
		text += ": " + m.Message
	}
	events := []provisioning.Event{{Warning: m.Kind != cloudprovider.InterruptionRebalance, Reason: reason, Message: text}}
	if leaves {
		events = append(events, provisioning.Event{Warning: true, Reason: "TerminatingOnInterruption", Message: "The node leaves since its instance is interrupted: " + text})
	}
	for _, e := range events {
		e.Kind, e.Name, e.UID = "NodeClaim", claim.Name, claim.UID
		r.recorder.publish([]provisioning.Event{e})
		if claim.Status.NodeName != "" {
			e.Kind, e.Name, e.UID = "Node", claim.Status.NodeName, ""
			r.recorder.publish([]provisioning.Event{e})
		}
	}
}

// interruptionEvent returns the reason and the message of an event for a kind of message.
func interruptionEvent(kind cloudprovider.InterruptionKind) (provisioning.EventReason, string) {
	switch kind {
	case cloudprovider.InterruptionSpotReclaim:
		return "SpotInterrupted", "The cloud takes the spot instance back"
	case cloudprovider.InterruptionRebalance:
		return "SpotRebalanceRecommendation", "The cloud thinks it likely that it takes the spot instance back"
	case cloudprovider.InterruptionReservationReclaim:
		return "CapacityReservationInstanceInterrupted", "The cloud takes the reserved instance back"
	case cloudprovider.InterruptionMaintenance:
		return "InstanceMaintenance", "The cloud will stop the instance for maintenance"
	case cloudprovider.InterruptionStopped:
		return "InstanceStopping", "The instance is stopped"
	case cloudprovider.InterruptionTerminated:
		return "InstanceTerminating", "The instance is terminated"
	case cloudprovider.InterruptionUnhealthy:
		return "InstanceUnhealthy", "The cloud finds the instance broken"
	}
	return "MachineInterruption", "The cloud says " + string(kind)
}

// messageType returns the name of a kind of message in metrics.
func messageType(kind cloudprovider.InterruptionKind) string {
	if kind == cloudprovider.InterruptionRebalance {
		return "rebalance_recommendation"
	}
	return strings.TrimSpace((&disruption.Removal{Reason: disruption.ReasonInterrupted, Detail: string(kind)}).Label())
}
