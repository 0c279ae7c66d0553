package fake_test

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/fake"
)

func receive(t *testing.T, cloud *fake.Cloud) []cloudprovider.Interruption {
	t.Helper()
	got, err := cloud.ReceiveInterruptions(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// reader is a call of ReceiveInterruptions that has looked once; it either has its answer or waits.
func reader(ctx context.Context, cloud *fake.Cloud) <-chan error {
	calls := cloud.Calls(fake.MethodReceiveInterruptions)
	done := make(chan error, 1)
	go func() {
		_, err := cloud.ReceiveInterruptions(ctx)
		done <- err
	}()
	for cloud.Calls(fake.MethodReceiveInterruptions) == calls {
		runtime.Gosched()
	}
	return done
}

// nothingToReceive has a reader look and then gives it up.
func nothingToReceive(t *testing.T, cloud *fake.Cloud) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := reader(ctx, cloud)
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want to wait in vain", err)
	}
}

func interrupt(t *testing.T, cloud *fake.Cloud, id string, kind cloudprovider.InterruptionKind, notice time.Duration) {
	t.Helper()
	if err := cloud.Interrupt(id, kind, notice); err != nil {
		t.Fatal(err)
	}
}

// A spot reclaim is announced, then really happens; what was acknowledged does not come again.
func TestSpotReclaim(t *testing.T) {
	ctx := context.Background()
	var seen recorder
	cloud, clock := testCloud(t, seen.options(fake.Options{ShutdownLatency: time.Minute}))
	id := create(t, cloud, claim("a")).Status.ProviderID
	interrupt(t, cloud, id, cloudprovider.InterruptionSpotReclaim, 2*time.Minute)
	got := receive(t, cloud)
	want := []cloudprovider.Interruption{{
		ID: "message-00000001", Kind: cloudprovider.InterruptionSpotReclaim, ProviderID: id,
		Time: start(), Deadline: start().Add(2 * time.Minute), Message: "SpotReclaim of m1.medium/test-region-1a/spot",
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if err := cloud.AckInterruptions(ctx, got[0].ID); err != nil {
		t.Fatal(err)
	}
	clock.Advance(2*time.Minute - time.Second)
	if i := cloud.Instances()[0]; i.Phase != fake.Running || !i.ReclaimAt.Equal(start().Add(2*time.Minute)) {
		t.Errorf("before the deadline it is %s, reclaimed at %v", i.Phase, i.ReclaimAt)
	}
	clock.Advance(time.Second)
	if phase := cloud.Instances()[0].Phase; phase != fake.ShuttingDown {
		t.Errorf("at the deadline it is %s", phase)
	}
	clock.Advance(time.Minute)
	cloud.Settle()
	if diff := cmp.Diff([]string{"launched a Running", "terminated a Gone"}, seen.events); diff != "" {
		t.Errorf("hooks (-want +got):\n%s", diff)
	}
	nothingToReceive(t, cloud)
	if err := cloud.Interrupt(id, cloudprovider.InterruptionSpotReclaim, 0); !cloudprovider.IsNodeClaimNotFound(err) {
		t.Errorf("interrupting what is gone: %v", err)
	}
}

// What each kind does to the instance after the notice.
func TestWhatFollowsAnInterruption(t *testing.T) {
	const notice = time.Minute
	tests := map[cloudprovider.InterruptionKind]struct {
		atOnce, after fake.Phase
		deadline      time.Duration // zero for none
	}{
		cloudprovider.InterruptionSpotReclaim:        {fake.Running, fake.ShuttingDown, notice},
		cloudprovider.InterruptionReservationReclaim: {fake.Running, fake.ShuttingDown, notice},
		cloudprovider.InterruptionTerminated:         {fake.ShuttingDown, fake.ShuttingDown, 0},
		cloudprovider.InterruptionRebalance:          {fake.Running, fake.Running, 0},
		cloudprovider.InterruptionMaintenance:        {fake.Running, fake.Running, notice},
		cloudprovider.InterruptionStopped:            {fake.Running, fake.Running, notice},
		cloudprovider.InterruptionUnhealthy:          {fake.Running, fake.Running, notice},
	}
	for kind, tt := range tests {
		t.Run(string(kind), func(t *testing.T) {
			cloud, clock := testCloud(t, fake.Options{ShutdownLatency: time.Hour})
			interrupt(t, cloud, create(t, cloud, claim("a")).Status.ProviderID, kind, notice)
			if got := cloud.Instances()[0].Phase; got != tt.atOnce {
				t.Errorf("at once it is %s, want %s", got, tt.atOnce)
			}
			message := receive(t, cloud)[0]
			switch {
			case kind == cloudprovider.InterruptionRebalance:
				if !message.Deadline.IsZero() {
					t.Errorf("deadline is %v, want none", message.Deadline)
				}
			case !message.Deadline.Equal(start().Add(tt.deadline)):
				t.Errorf("deadline is %v", message.Deadline)
			}
			clock.Advance(notice)
			if got := cloud.Instances()[0].Phase; got != tt.after {
				t.Errorf("after the notice it is %s, want %s", got, tt.after)
			}
		})
	}
}

// CP-INTERRUPT-01, CP-INTERRUPT-04, CP-INTERRUPT-05: at least once, to one reader at a time, until acknowledged.
func TestRedelivery(t *testing.T) {
	ctx := context.Background()
	cloud, clock := testCloud(t, fake.Options{Cluster: "blue", RedeliverAfter: ptr(30 * time.Second)})
	id := create(t, cloud, claim("a")).Status.ProviderID
	interrupt(t, cloud, id, cloudprovider.InterruptionRebalance, 0)
	interrupt(t, cloud, id, cloudprovider.InterruptionMaintenance, time.Hour)
	first := receive(t, cloud)
	if len(first) != 2 {
		t.Fatalf("got %v", first)
	}
	nothingToReceive(t, cloud)
	if err := cloud.ForCluster("green").AckInterruptions(ctx, first[1].ID); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := cloud.AckInterruptions(ctx, first[0].ID, "never heard of"); err != nil {
			t.Errorf("acknowledging: %v", err)
		}
	}
	clock.Advance(30 * time.Second)
	nothingToReceive(t, cloud.ForCluster("green"))
	if diff := cmp.Diff(first[1:], receive(t, cloud)); diff != "" {
		t.Errorf("redelivered (-want +got):\n%s", diff)
	}
}

// CP-INTERRUPT-03: a waiting reader is woken by a message, and by Settle when one is due again.
func TestReceiveWaits(t *testing.T) {
	cloud, clock := testCloud(t, fake.Options{})
	id := create(t, cloud, claim("a")).Status.ProviderID
	ctx := context.Background()
	woken := reader(ctx, cloud)
	interrupt(t, cloud, id, cloudprovider.InterruptionRebalance, 0)
	if err := <-woken; err != nil {
		t.Errorf("after a message: %v", err)
	}
	woken = reader(ctx, cloud)
	clock.Advance(fake.DefaultRedeliverAfter)
	cloud.Settle()
	if err := <-woken; err != nil {
		t.Errorf("after Settle: %v", err)
	}
}
