package fake

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/drawknife/drawknife/cloudprovider"
)

// inbox contains the unacknowledged messages of all clusters, oldest first.
type inbox struct {
	messages []*message
	sent     int
	// changed is closed and replaced when waiting readers should check the messages again.
	changed chan struct{}
}

type message struct {
	cloudprovider.Interruption
	// noise marks an irrelevant message. Readers never get such a message.
	noise   bool
	cluster string
	// hiddenUntil is when the message is delivered again; zero before its first delivery.
	hiddenUntil time.Time
}

func newInbox() inbox { return inbox{changed: make(chan struct{})} }

func (i *inbox) wakeAll() {
	close(i.changed)
	i.changed = make(chan struct{})
}

// Interrupt announces to the instance's cluster what will happen to the instance once the time notice has passed. After a spot or
// reservation reclaim, the cloud terminates the instance. For the kind InterruptionTerminated, the cloud terminates the instance at once.
// Other kinds have no effect. If no instance has this provider ID, the error has kind NodeClaimNotFound.
func (c *Cloud) Interrupt(providerID string, kind cloudprovider.InterruptionKind, notice time.Duration) error {
	e := Event{Name: "Interrupt", ProviderID: providerID, Text: string(kind), Duration: notice}
	return c.lever(e, func(now time.Time) error {
		m, ok := c.instances[providerID]
		if !ok {
			return fmt.Errorf("interrupting an instance: %w", cloudprovider.NewNodeClaimNotFoundError(providerID, nil))
		}
		c.announce(m, kind, max(notice, 0), now)
		return nil
	})
}

// announce sends the message about an instance, and plans the announced event.
func (a *account) announce(m *instance, kind cloudprovider.InterruptionKind, notice time.Duration, now time.Time) {
	deadline := now.Add(notice)
	switch kind {
	case cloudprovider.InterruptionSpotReclaim, cloudprovider.InterruptionReservationReclaim:
		m.ReclaimAt = deadline
		a.timeline.plan(deadline, func(at time.Time) { a.shutDown(m, at) })
	case cloudprovider.InterruptionTerminated:
		deadline = now
		a.shutDown(m, now)
	case cloudprovider.InterruptionRebalance:
		deadline = time.Time{}
	}
	a.record(Event{At: now, Kind: EventHappening, Name: "Announced", ProviderID: m.ProviderID, Text: string(kind), Duration: notice})
	for range 1 + a.chance.one(a.chance.Duplicated) {
		a.inbox.sent++
		a.inbox.messages = append(a.inbox.messages, &message{
			cluster: m.Tags[TagCluster],
			Interruption: cloudprovider.Interruption{
				ID:         fmt.Sprintf("message-%08d", a.inbox.sent),
				Kind:       kind,
				ProviderID: m.ProviderID,
				Time:       now,
				Deadline:   deadline,
				Message:    fmt.Sprintf("%s of %s", kind, m.Offering),
			},
		})
	}
	a.inbox.wakeAll()
}

// Noise sends an irrelevant message, like the messages that other programs may put into a real cloud's queue. Readers never get this
// message.
func (c *Cloud) Noise() {
	_ = c.lever(Event{Name: "Noise"}, func(time.Time) error {
		c.inbox.messages = append(c.inbox.messages, &message{noise: true})
		c.inbox.wakeAll()
		return nil
	})
}

// ReceiveInterruptions waits for messages for this cluster. A message that is not acknowledged is delivered again after
// Options.RedeliverAfter. A waiting reader gets such a message only when the next message is sent or Settle is called.
func (c *Cloud) ReceiveInterruptions(ctx context.Context) ([]cloudprovider.Interruption, error) {
	messages, changed, err := c.receive(ctx)
	if err != nil {
		return nil, err
	}
	for len(messages) == 0 {
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("waiting for interruptions: %w", ctx.Err())
		case <-changed:
		}
		messages, changed = c.look()
	}
	return messages, nil
}

// receive reads the messages for the first time in a call of ReceiveInterruptions.
func (c *Cloud) receive(ctx context.Context) (messages []cloudprovider.Interruption, changed <-chan struct{}, err error) {
	e := &Event{Name: string(MethodReceiveInterruptions)}
	err = c.call(ctx, e, func(now time.Time) error {
		messages, changed = c.deliver(now)
		for _, m := range messages {
			e.Result = append(e.Result, m.ID)
		}
		return nil
	})
	return messages, changed, err
}

// lookAgain is the name of the event that records which messages a waiting reader got.
const lookAgain = "LookAgain"

// look reads the messages again for a waiting reader. It belongs to the call that is waiting, so no fault is injected.
func (c *Cloud) look() ([]cloudprovider.Interruption, <-chan struct{}) {
	now := c.clock.Now()
	defer c.runHooks()
	c.mu.Lock()
	defer c.mu.Unlock()
	now = c.notBefore(now)
	messages, changed := c.deliver(now)
	if len(messages) > 0 {
		e := Event{At: now, Kind: EventCall, Name: lookAgain, Cluster: c.cluster}
		for _, m := range messages {
			e.Result = append(e.Result, m.ID)
		}
		c.record(e)
	}
	return messages, changed
}

// deliver returns this cluster's messages that are not hidden, and hides them for a while. It also returns the channel that is closed when
// the messages should be checked again.
func (c *Cloud) deliver(now time.Time) ([]cloudprovider.Interruption, <-chan struct{}) {
	var delivered []cloudprovider.Interruption
	c.inbox.messages = slices.DeleteFunc(c.inbox.messages, func(m *message) bool { return m.noise })
	for _, m := range c.inbox.messages {
		if m.cluster != c.cluster || now.Before(m.hiddenUntil) {
			continue
		}
		m.hiddenUntil = now.Add(c.redeliverAfter)
		delivered = append(delivered, m.Interruption)
	}
	return delivered, c.inbox.changed
}

// AckInterruptions removes messages for this cluster. It ignores unknown IDs.
func (c *Cloud) AckInterruptions(ctx context.Context, ids ...string) error {
	return c.call(ctx, &Event{Name: string(MethodAckInterruptions), IDs: slices.Clone(ids)}, func(time.Time) error {
		acked := make(map[string]struct{}, len(ids))
		for _, id := range ids {
			acked[id] = struct{}{}
		}
		c.inbox.messages = slices.DeleteFunc(c.inbox.messages, func(m *message) bool {
			_, ok := acked[m.ID]
			return ok && m.cluster == c.cluster
		})
		return nil
	})
}
