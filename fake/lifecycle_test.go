package fake_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/fake"
	"github.com/drawknife/drawknife/internal/seeded"
)

// recorder notes what the hooks say.
type recorder struct{ events []string }

func (r *recorder) options(o fake.Options) fake.Options {
	o.OnLaunch = func(i fake.Instance) { r.note("launched", i) }
	o.OnTerminate = func(i fake.Instance) { r.note("terminated", i) }
	return o
}

func (r *recorder) note(what string, i fake.Instance) {
	r.events = append(r.events, fmt.Sprintf("%s %s %s", what, i.Tags[fake.TagNodeClaim], i.Phase))
}

// An instance is found by its provider ID, as Instances has it, until it is gone.
func TestInstance(t *testing.T) {
	cloud, clock := testCloud(t, fake.Options{ShutdownLatency: time.Minute})
	created := create(t, cloud, claim("a"))
	create(t, cloud, claim("b"))
	for _, want := range cloud.Instances() {
		if got, ok := cloud.Instance(want.ProviderID); !ok || !cmp.Equal(want, got) {
			t.Errorf("%v (-want +got):\n%s", ok, cmp.Diff(want, got))
		}
	}
	if err := cloud.Delete(t.Context(), created); err != nil {
		t.Fatal(err)
	}
	if i, ok := cloud.Instance(created.Status.ProviderID); !ok || i.Phase != fake.ShuttingDown {
		t.Errorf("while it shuts down: %v, %+v", ok, i)
	}
	clock.Advance(time.Minute)
	for _, id := range []string{created.Status.ProviderID, "", "nobody"} {
		if i, ok := cloud.Instance(id); ok {
			t.Errorf("%q: %+v", id, i)
		}
	}
}

// CP-DELETE-01, CP-DELETE-02, CP-GET-02, CP-LIST-03, PRV-171, PRV-173: shutting down is not gone.
func TestDeleteUntilNotFound(t *testing.T) {
	ctx := context.Background()
	var seen recorder
	cloud, clock := testCloud(t, seen.options(fake.Options{ShutdownLatency: time.Minute}))
	created := create(t, cloud, claim("a"))
	for range 3 {
		if err := cloud.Delete(ctx, created); err != nil {
			t.Fatalf("while it shuts down: %v", err)
		}
		clock.Advance(19 * time.Second)
	}
	got, err := cloud.Get(ctx, created.Status.ProviderID)
	if err != nil {
		t.Fatal(err)
	}
	if got.DeletionTimestamp == nil || !got.DeletionTimestamp.Time.Equal(start()) {
		t.Errorf("deletion timestamp is %v", got.DeletionTimestamp)
	}
	if all := list(t, cloud); len(all) != 1 || all[0].DeletionTimestamp == nil {
		t.Errorf("listed are %v", all)
	}
	if diff := cmp.Diff([]string{"launched a Running"}, seen.events); diff != "" {
		t.Errorf("hooks before it is gone (-want +got):\n%s", diff)
	}
	clock.Advance(3 * time.Second)
	for range 2 {
		if err := cloud.Delete(ctx, created); !cloudprovider.IsNodeClaimNotFound(err) {
			t.Errorf("when it is gone: %v", err)
		}
	}
	if _, err := cloud.Get(ctx, created.Status.ProviderID); !cloudprovider.IsNodeClaimNotFound(err) {
		t.Errorf("when it is gone: %v", err)
	}
	if all := list(t, cloud); len(all) != 0 {
		t.Errorf("listed are %v", all)
	}
	if diff := cmp.Diff([]string{"launched a Running", "terminated a Gone"}, seen.events); diff != "" {
		t.Errorf("hooks (-want +got):\n%s", diff)
	}
}

// CP-DELETE-03, CP-DELETE-04, CP-GET-03, CP-LIST-01, CP-DRIFT-03, CP-GATE-04: IDs that name none of this cluster's
// instances are not found, and other clusters' instances are left alone.
func TestForeignAndUnknownInstances(t *testing.T) {
	ctx := context.Background()
	cloud, _ := testCloud(t, fake.Options{Cluster: "blue"})
	mine := create(t, cloud, claim("a"))
	foreign := create(t, cloud.ForCluster("green"), claim("a"))
	if mine.Status.ProviderID == foreign.Status.ProviderID {
		t.Fatal("claims of one UID in two clusters share an instance")
	}
	for _, id := range []string{"", "nonsense", "aws:///a/i-1", mine.Status.ProviderID + "0", foreign.Status.ProviderID} {
		c := claim("a")
		c.Status.ProviderID = id
		if err := cloud.Delete(ctx, c); !cloudprovider.IsNodeClaimNotFound(err) {
			t.Errorf("Delete(%q) = %v", id, err)
		}
		if got, err := cloud.Get(ctx, id); got != nil || !cloudprovider.IsNodeClaimNotFound(err) {
			t.Errorf("Get(%q) = %v, %v", id, got, err)
		}
		if got, err := cloud.IsDrifted(ctx, c); got != "" || !cloudprovider.IsNodeClaimNotFound(err) {
			t.Errorf("IsDrifted(%q) = %v, %v", id, got, err)
		}
		if got, err := cloud.Registered(ctx, c); got.Open || !cloudprovider.IsNodeClaimNotFound(err) {
			t.Errorf("Registered(%q) = %v, %v", id, got, err)
		}
	}
	if err := cloud.Delete(ctx, nil); !cloudprovider.IsNodeClaimNotFound(err) {
		t.Errorf("Delete(nil) = %v", err)
	}
	if diff := cmp.Diff([]*v1.NodeClaim{mine}, list(t, cloud)); diff != "" {
		t.Errorf("mine (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]*v1.NodeClaim{foreign}, list(t, cloud.ForCluster("green"))); diff != "" {
		t.Errorf("the other cluster's (-want +got):\n%s", diff)
	}
	// Only the ID counts: everything else may be stale.
	stale := &v1.NodeClaim{}
	stale.Status.ProviderID = mine.Status.ProviderID
	if err := cloud.Delete(ctx, stale); err != nil {
		t.Errorf("deleting by the id alone: %v", err)
	}
}

// Latency is simulated: things happen when the clock has passed them, in their order, and are told once.
func TestLatency(t *testing.T) {
	ctx := context.Background()
	var seen recorder
	cloud, clock := testCloud(t, seen.options(fake.Options{LaunchLatency: 40 * time.Second, ShutdownLatency: 30 * time.Second}))
	if at, ok := cloud.NextChange(); ok {
		t.Errorf("something will happen at %v", at)
	}
	a := create(t, cloud, claim("a"))
	clock.Advance(10 * time.Second)
	b := create(t, cloud, claim("b"))
	if err := cloud.Delete(ctx, b); err != nil { // gone at 40 s, before it would have booted
		t.Fatal(err)
	}
	if got := cloud.Instances()[0].Phase; got != fake.Pending {
		t.Errorf("a is %s", got)
	}
	if at, ok := cloud.NextChange(); !ok || !at.Equal(start().Add(40*time.Second)) {
		t.Errorf("next change is at %v, %v", at, ok)
	}
	clock.Advance(29 * time.Second)
	cloud.Settle()
	if len(seen.events) != 0 {
		t.Errorf("too early: %v", seen.events)
	}
	clock.Advance(time.Hour)
	cloud.Settle()
	cloud.Settle()
	if diff := cmp.Diff([]string{"launched a Running", "terminated b Gone"}, seen.events); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if err := cloud.Delete(ctx, a); err != nil {
		t.Fatal(err)
	}
	if at, ok := cloud.NextChange(); !ok || !at.Equal(clock.Now().Add(30*time.Second)) {
		t.Errorf("next change is at %v, %v", at, ok)
	}
}

// Hooks run without a lock: they may call the cloud, and what they cause is told after them.
func TestHooksMayCallTheCloud(t *testing.T) {
	var cloud *fake.Cloud
	var events []string
	cloud, _ = testCloud(t, fake.Options{
		OnLaunch: func(i fake.Instance) {
			events = append(events, "launched "+i.Tags[fake.TagNodeClaim])
			c := &v1.NodeClaim{}
			c.Status.ProviderID = i.ProviderID
			if err := cloud.Delete(context.Background(), c); err != nil {
				t.Error(err)
			}
			events = append(events, "hook done")
		},
		OnTerminate: func(i fake.Instance) {
			events = append(events, "terminated "+i.Tags[fake.TagNodeClaim])
			if i.Tags[fake.TagNodeClaim] == "a" {
				create(t, cloud, claim("b"))
			}
		},
	})
	create(t, cloud, claim("a"))
	want := []string{"launched a", "hook done", "terminated a", "launched b", "hook done", "terminated b"}
	if diff := cmp.Diff(want, events); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A hook that panics must not stop the hooks of later calls.
func TestHookThatPanics(t *testing.T) {
	calls := 0
	cloud, _ := testCloud(t, fake.Options{OnLaunch: func(fake.Instance) {
		if calls++; calls == 1 {
			panic("the test's own mistake")
		}
	}})
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic was swallowed")
			}
		}()
		create(t, cloud, claim("a"))
	}()
	create(t, cloud, claim("b"))
	if calls != 2 {
		t.Errorf("%d hooks were called, want 2", calls)
	}
}

// CP-DRIFT-01, CP-DRIFT-02, PRV-175.
func TestDrift(t *testing.T) {
	ctx := context.Background()
	cloud, _ := testCloud(t, fake.Options{})
	a, b := create(t, cloud, claim("a")), create(t, cloud, claim("b"))
	check := func(c *v1.NodeClaim, want cloudprovider.DriftReason) {
		t.Helper()
		for range 2 {
			if got, err := cloud.IsDrifted(ctx, c); err != nil || got != want {
				t.Errorf("%s: %q, %v; want %q", c.Name, got, err, want)
			}
		}
	}
	check(a, "")
	cloud.SetImageID("fake-image-2")
	check(a, fake.ImageDrift)
	check(create(t, cloud, claim("c")), "")
	if err := cloud.SetDrift(b.Status.ProviderID, "SubnetDrift"); err != nil {
		t.Fatal(err)
	}
	check(b, "SubnetDrift")
	if err := cloud.SetDrift(b.Status.ProviderID, ""); err != nil {
		t.Fatal(err)
	}
	check(b, fake.ImageDrift)
	if err := cloud.SetDrift("nonsense", "x"); !cloudprovider.IsNodeClaimNotFound(err) {
		t.Errorf("drift of no instance: %v", err)
	}
}

// CP-GATE-01, CP-GATE-02, CP-GATE-03, PRV-059, PRV-179.
func TestRegistrationGate(t *testing.T) {
	ctx := context.Background()
	cloud, clock := testCloud(t, fake.Options{LaunchLatency: time.Minute, ShutdownLatency: time.Hour})
	a := create(t, cloud, claim("a"))
	check := func(c *v1.NodeClaim, want cloudprovider.GateResult) {
		t.Helper()
		for range 2 {
			got, err := cloud.Registered(ctx, c)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		}
	}
	hold := func(reason string) {
		t.Helper()
		if err := cloud.HoldRegistration(a.Status.ProviderID, reason); err != nil {
			t.Fatal(err)
		}
	}
	clock.Advance(20 * time.Second)
	check(a, cloudprovider.GateResult{RetryAfter: 40 * time.Second, Reason: "the instance is booting"})
	hold("the network is not set up")
	clock.Advance(time.Minute)
	check(a, cloudprovider.GateResult{Reason: "the network is not set up"})
	hold("")
	check(a, cloudprovider.GateResult{Open: true})
	hold("too late")
	check(a, cloudprovider.GateResult{Open: true})

	b := create(t, cloud, claim("b"))
	if err := cloud.Delete(ctx, b); err != nil {
		t.Fatal(err)
	}
	check(b, cloudprovider.GateResult{Reason: "the instance is shutting down"})
	if err := cloud.HoldRegistration("nonsense", "x"); !cloudprovider.IsNodeClaimNotFound(err) {
		t.Errorf("holding no instance: %v", err)
	}
}

// CP-CREATE-02, CP-DELETE, CP-GET, CP-LIST: any sequence of calls leaves what a simple model says.
func TestLifecycleAgainstAModel(t *testing.T) {
	const boot, shutdown = 3 * time.Second, 2 * time.Second
	seeded.Check(t, func(rt *rapid.T) {
		clock := fake.NewSimClock(start())
		launches, ends := map[string]int{}, map[string]int{}
		cloud, err := fake.New(fake.GenericTypes(1), fake.Options{
			Clock: clock, LaunchLatency: boot, ShutdownLatency: shutdown,
			OnLaunch:    func(i fake.Instance) { launches[i.ProviderID]++ },
			OnTerminate: func(i fake.Instance) { ends[i.ProviderID]++ },
		})
		if err != nil {
			rt.Fatal(err)
		}
		ctx := context.Background()
		live := map[string]string{}       // claim → provider ID
		goneAt := map[string]time.Time{}  // provider ID → when, for instances told to end
		everSeen := map[string]struct{}{} // all provider IDs
		gone := func(id string) bool { at, ending := goneAt[id]; return ending && !clock.Now().Before(at) }
		name := rapid.SampledFrom([]string{"a", "b", "c"})
		rt.Repeat(map[string]func(*rapid.T){
			"create": func(rt *rapid.T) {
				n := name.Draw(rt, "claim")
				got, err := cloud.Create(ctx, claim(n))
				if err != nil {
					rt.Fatal(err)
				}
				id := got.Status.ProviderID
				if want, ok := live[n]; ok && id != want {
					rt.Fatalf("claim %s has %s and got %s", n, want, id)
				}
				if _, seen := everSeen[id]; seen && live[n] != id {
					rt.Fatalf("%s was used before", id)
				}
				live[n], everSeen[id] = id, struct{}{}
			},
			"delete": func(rt *rapid.T) {
				if len(everSeen) == 0 {
					rt.Skip("no instance yet")
				}
				id := rapid.SampledFrom(sortedKeys(everSeen)).Draw(rt, "machine")
				c := &v1.NodeClaim{}
				c.Status.ProviderID = id
				err := cloud.Delete(ctx, c)
				if gone(id) != cloudprovider.IsNodeClaimNotFound(err) || !gone(id) && err != nil {
					rt.Fatalf("gone %v, but Delete says %v", gone(id), err)
				}
				if _, ending := goneAt[id]; !ending {
					goneAt[id] = clock.Now().Add(shutdown)
				}
				for n, has := range live {
					if has == id {
						delete(live, n)
					}
				}
			},
			"wait": func(rt *rapid.T) {
				clock.Advance(time.Duration(rapid.IntRange(1, 3).Draw(rt, "seconds")) * time.Second)
			},
			"": func(rt *rapid.T) {
				listed := map[string]bool{}
				all, err := cloud.List(ctx)
				if err != nil {
					rt.Fatal(err)
				}
				for _, c := range all {
					listed[c.Status.ProviderID] = true
					if _, ending := goneAt[c.Status.ProviderID]; ending != (c.DeletionTimestamp != nil) {
						rt.Fatalf("%s: ending %v, deletion timestamp %v", c.Status.ProviderID, ending, c.DeletionTimestamp)
					}
				}
				for id := range everSeen {
					_, err := cloud.Get(ctx, id)
					if found := err == nil; found == gone(id) || listed[id] == gone(id) {
						rt.Fatalf("%s: gone %v, Get says %v, listed %v", id, gone(id), err, listed[id])
					}
					if launches[id] > 1 || ends[id] > 1 || (ends[id] == 1) != gone(id) {
						rt.Fatalf("%s: gone %v, told %d launches and %d ends", id, gone(id), launches[id], ends[id])
					}
				}
			},
		})
	})
}
