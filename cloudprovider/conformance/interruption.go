package conformance

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
)

func interruptionClauses() []clause {
	return []clause{
		{"CP-INTERRUPT-01", Interruption, "messages come again until they are acknowledged", (*lab).interruptAgain},
		{"CP-INTERRUPT-02", Interruption, "messages that mean nothing never reach the reader", (*lab).interruptNoise},
		{"CP-INTERRUPT-03", Interruption, "Receive waits, and ends with its context", (*lab).interruptWaits},
		{"CP-INTERRUPT-04", Interruption, "a message goes to one of several readers", (*lab).interruptShared},
		{"CP-INTERRUPT-05", Interruption, "acknowledging twice is no error", (*lab).interruptAckTwice},
		{"CP-INTERRUPT-06", Interruption, "a message is about one instance", (*lab).interruptSingle},
	}
}

// receiveTime is how long it may take to receive a message that is in the queue. It is in real time. It is long, because a busy computer is
// slow.
const receiveTime = 10 * time.Second

// sharedTime is the time for which several readers read the queue, in real time. If it were shorter, a busy computer might run only one of
// the readers, and the test would not notice a source that gives one message to two readers.
const sharedTime = 300 * time.Millisecond

func (l *lab) source() cloudprovider.InterruptionSource {
	source := ability[cloudprovider.InterruptionSource](l, "InterruptionSource")
	if l.Interrupt == nil {
		l.Skip("needs the hook Interrupt")
	}
	return source
}

// warned launches an instance and makes the cloud announce an interruption of it.
func (l *lab) warned() *v1.NodeClaim {
	instance := l.create(l.claim())
	err := l.Interrupt(instance.Status.ProviderID, cloudprovider.InterruptionRebalance, time.Hour)
	if errors.Is(err, errors.ErrUnsupported) {
		err = l.Interrupt(instance.Status.ProviderID, cloudprovider.InterruptionMaintenance, time.Hour)
	}
	if err != nil {
		l.Fatalf("warning of instance %q: %v", instance.Status.ProviderID, err)
	}
	return instance
}

// received waits at most the duration within, and returns the first messages about the instances ids. It acknowledges and ignores other
// messages.
func (l *lab) received(source cloudprovider.InterruptionSource, within time.Duration, ids ...string) []cloudprovider.Interruption {
	ctx, cancel := context.WithTimeout(l.Context(), within)
	defer cancel()
	for {
		messages, err := source.ReceiveInterruptions(ctx)
		if err != nil {
			if ctx.Err() == nil {
				l.Fatalf("receiving: %v", err)
			}
			return nil
		}
		if len(messages) == 0 { // CP-INTERRUPT-03 covers this
			pass(ctx, time.Millisecond)
		}
		about := slices.DeleteFunc(messages, func(m cloudprovider.Interruption) bool { return !slices.Contains(ids, m.ProviderID) })
		if len(about) > 0 {
			return about
		}
	}
}

// redelivery is in simulated time. It is longer than any source hides a delivered message before it delivers the message again.
const redelivery = 15 * time.Minute

func (l *lab) interruptAgain() {
	source := l.source()
	id := l.warned().Status.ProviderID
	first := l.received(source, receiveTime, id)
	if len(first) == 0 {
		l.Fatalf("the message about instance %q does not come", id)
	}
	if l.Advance == nil {
		l.Skip("needs the hook Advance: redelivery takes minutes")
	}
	l.Advance(redelivery)
	again := l.received(source, receiveTime, id)
	if len(again) == 0 {
		l.Fatal("a message that was not acknowledged does not come again")
	}
	if err := source.AckInterruptions(l.Context(), idsOf(again)...); err != nil {
		l.Fatalf("acknowledging: %v", err)
	}
	l.Advance(redelivery)
	if once := l.received(source, 50*time.Millisecond, id); len(once) > 0 {
		l.Errorf("a message that was acknowledged comes again: %+v", once)
	}
}

func idsOf(messages []cloudprovider.Interruption) []string {
	ids := make([]string, len(messages))
	for i, m := range messages {
		ids[i] = m.ID
	}
	return ids
}

func (l *lab) interruptNoise() {
	source := l.source()
	if l.Noise == nil {
		l.Skip("needs the hook Noise")
	}
	if err := l.Noise(); err != nil {
		l.Fatalf("making noise: %v", err)
	}
	instance := l.warned()
	ctx, cancel := context.WithTimeout(l.Context(), receiveTime)
	defer cancel()
	var messages []cloudprovider.Interruption
	for len(messages) == 0 {
		var err error
		if messages, err = source.ReceiveInterruptions(ctx); err != nil {
			l.Fatalf("receiving among messages that mean nothing: %v", err)
		}
	}
	for _, m := range messages {
		if m.ProviderID != instance.Status.ProviderID || m.Kind == "" {
			l.Errorf("a message that means nothing reached the reader: %+v", m)
		}
	}
}

func (l *lab) interruptWaits() {
	source := l.source()
	l.drain(source)
	ctx, cancel := context.WithTimeout(l.Context(), 50*time.Millisecond)
	defer cancel()
	messages, err := source.ReceiveInterruptions(ctx)
	switch {
	case err == nil:
		l.Errorf("without a message, Receive returned %v and no error", messages)
	case ctx.Err() == nil:
		l.Errorf("Receive did not wait for a message: %v", err)
	case !errors.Is(err, context.DeadlineExceeded):
		l.Errorf("the context has ended, and Receive says %v", err)
	}
	waiting := make(chan []cloudprovider.Interruption, 1)
	long, stop := context.WithTimeout(l.Context(), receiveTime)
	defer stop()
	go func() {
		got, _ := source.ReceiveInterruptions(long)
		waiting <- got
	}()
	pass(l.Context(), 20*time.Millisecond)
	l.warned()
	if got := <-waiting; len(got) == 0 {
		l.Errorf("a reader that waits does not get the message that comes, within %s", receiveTime)
	}
}

// drain acknowledges all present messages.
func (l *lab) drain(source cloudprovider.InterruptionSource) {
	for {
		ctx, cancel := context.WithTimeout(l.Context(), 20*time.Millisecond)
		messages, err := source.ReceiveInterruptions(ctx)
		cancel()
		if err != nil || len(messages) == 0 {
			return
		}
		if err := source.AckInterruptions(l.Context(), idsOf(messages)...); err != nil {
			l.Fatalf("acknowledging: %v", err)
		}
	}
}

func (l *lab) interruptShared() {
	source := l.source()
	ours := map[string]bool{}
	for range 6 {
		ours[l.warned().Status.ProviderID] = true
	}
	// A cloud may send a warning twice, so deliveries are counted, not instances.
	deliveries := map[string]int{}
	var mu sync.Mutex
	var readers sync.WaitGroup
	ctx, cancel := context.WithTimeout(l.Context(), sharedTime)
	defer cancel()
	for range 4 {
		readers.Go(func() {
			for {
				messages, err := source.ReceiveInterruptions(ctx)
				if err != nil {
					return
				}
				mu.Lock()
				for _, m := range messages {
					if ours[m.ProviderID] {
						deliveries[m.ID+" about instance "+m.ProviderID]++
					}
				}
				mu.Unlock()
				if len(messages) == 0 { // CP-INTERRUPT-03 covers this
					pass(ctx, time.Millisecond)
				}
			}
		})
	}
	readers.Wait()
	for _, id := range sortedKeys(deliveries) {
		if deliveries[id] > 1 {
			l.Errorf("delivery %s went to %d readers at once", id, deliveries[id])
		}
	}
}

func (l *lab) interruptAckTwice() {
	source := l.source()
	id := l.warned().Status.ProviderID
	got := idsOf(l.received(source, receiveTime, id))
	for n := range 2 {
		if err := source.AckInterruptions(l.Context(), got...); err != nil {
			l.Errorf("acknowledging %q, time %d: %v", got, n+1, err)
		}
	}
	if err := source.AckInterruptions(l.Context(), "nobody knows this"); err != nil {
		l.Errorf("acknowledging what is not known: %v", err)
	}
	if err := source.AckInterruptions(l.Context()); err != nil {
		l.Errorf("acknowledging nothing: %v", err)
	}
}

func (l *lab) interruptSingle() {
	source := l.source()
	left := map[string]bool{}
	for range 3 {
		left[l.warned().Status.ProviderID] = true
	}
	seen := map[string]string{}
	for len(left) > 0 {
		messages := l.received(source, receiveTime, sortedKeys(left)...)
		if len(messages) == 0 {
			l.Errorf("no message names instances %q", sortedKeys(left))
			return
		}
		for _, m := range messages {
			if other, twice := seen[m.ID]; twice && other != m.ProviderID {
				l.Errorf("delivery %q is about instance %q and about %q: one can't be acknowledged alone", m.ID, other, m.ProviderID)
			}
			seen[m.ID] = m.ProviderID
			delete(left, m.ProviderID)
		}
	}
}
