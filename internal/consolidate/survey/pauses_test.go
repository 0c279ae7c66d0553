package survey_test

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/disruption/decision"
	"github.com/drawknife/drawknife/internal/consolidate/survey"
	"github.com/drawknife/drawknife/internal/fleettest"
)

// DIS-231 to DIS-234: pools whose replacements fail are left alone, longer and longer.
func TestBackOff(t *testing.T) {
	b := &survey.BackOff{Seed: 1}
	bad, good := v1.NewPoolKey("bad"), v1.NewPoolKey("good")
	at := fleettest.Now()
	for i, most := range []time.Duration{time.Minute, 2 * time.Minute, 4 * time.Minute, 8 * time.Minute, 10 * time.Minute, 10 * time.Minute} {
		if !b.Failed(bad, at) {
			t.Fatalf("failure %d does not count", i+1)
		}
		why := b.Blocks(bad, at)
		if why == nil || why.Code != decision.BlockBackOff || why.Count != i+1 {
			t.Fatalf("failure %d: %v", i+1, why)
		}
		if wait := why.Until.Sub(at); wait < most/2 || wait >= most {
			t.Errorf("failure %d: left alone for %s, want from %s to %s", i+1, wait, most/2, most)
		}
		if b.Failed(bad, at) || b.Blocks(bad, at).Until != why.Until {
			t.Error("a failure while it is left alone changed something")
		}
		at = why.Until
		if b.Blocks(bad, at) != nil {
			t.Error("it is left alone after its time")
		}
	}
	if b.Blocks(good, fleettest.Now()) != nil {
		t.Error("another pool is left alone")
	}
	b.Failed(bad, at)
	b.Succeeded(bad)
	if b.Blocks(bad, at) != nil {
		t.Error("it is left alone after a success")
	}
	var none *survey.BackOff
	if none.Failed(bad, at); none.Blocks(bad, at) != nil {
		t.Error("nothing remembers a failure")
	}
}

// Nodes whose commands fail are left alone, longer each time within half an hour; after a success as if nothing had happened.
func TestRefusalsOfFailures(t *testing.T) {
	f := fleettest.New()
	f.Node("a", "c4", fleettest.Pods("p", 1, "1")...)
	x := f.Survey(t)
	cmd := &decision.Command{Members: []decision.Member{{Node: "a", UID: "uid-a"}}}
	until := func(r *survey.Refusals, after time.Duration) (code decision.BlockCode, wait time.Duration) {
		f.Input.Refusals, f.Snapshot.Time = r, fleettest.Now().Add(after)
		for _, refusal := range r.Remembered() {
			wait = refusal.Until.Sub(f.Snapshot.Time)
		}
		if why := f.Survey(t).Refuses(x.Candidates[0])[survey.Consolidating]; why != nil {
			code = why.Code
		}
		return code, wait
	}
	for _, c := range []struct {
		name  string
		notes func(r *survey.Refusals)
		after time.Duration
		code  decision.BlockCode
		wait  time.Duration
	}{
		{"once", func(r *survey.Refusals) { r.Fail(cmd, "x", fleettest.Now()) }, 0, decision.BlockFailed, time.Minute},
		{"after its time", func(r *survey.Refusals) { r.Fail(cmd, "x", fleettest.Now()) }, 2 * time.Minute, "", -time.Minute},
		{"a second time", func(r *survey.Refusals) { r.Fail(cmd, "x", fleettest.Now()); r.Fail(cmd, "x", fleettest.Now()) }, 0, decision.BlockFailed, 2 * time.Minute},
		{"a second time, an hour later", func(r *survey.Refusals) {
			r.Fail(cmd, "x", fleettest.Now())
			r.Fail(cmd, "x", fleettest.Now().Add(time.Hour))
		}, time.Hour, decision.BlockFailed, time.Minute},
		{"held back", func(r *survey.Refusals) { r.HoldBack(cmd, "x", 0, fleettest.Now(), time.Time{}) }, 0, decision.BlockHeldBack, 10 * time.Second},
		{"held back until a time", func(r *survey.Refusals) { r.HoldBack(cmd, "x", 0, fleettest.Now(), fleettest.Now().Add(time.Hour)) }, 0, decision.BlockHeldBack, time.Hour},
		{"held back after launches", func(r *survey.Refusals) { r.HoldBack(cmd, "x", 1, fleettest.Now(), time.Time{}) }, 0, decision.BlockHeldBack, time.Minute},
		{"a success", func(r *survey.Refusals) { r.Fail(cmd, "x", fleettest.Now()); r.Succeeded(cmd) }, 0, "", 0},
		{"refused by somebody", func(r *survey.Refusals) {
			r.Refuse([]types.UID{"uid-a"}, decision.ReasonUnderutilized, "no", fleettest.Now(), fleettest.Now().Add(time.Hour))
		}, 0, decision.BlockRefused, time.Hour},
		{"refused for another reason", func(r *survey.Refusals) {
			r.Refuse([]types.UID{"uid-a"}, decision.ReasonDrifted, "no", fleettest.Now(), fleettest.Now().Add(time.Hour))
		}, 0, "", time.Hour},
		{"its pool is closed", func(r *survey.Refusals) { r.ClosePool(fleettest.Default(), "no", fleettest.Now().Add(time.Hour)) }, 0, decision.BlockFailed, time.Hour},
		{"and opened", func(r *survey.Refusals) {
			r.ClosePool(fleettest.Default(), "no", fleettest.Now().Add(time.Hour))
			r.OpenPool(fleettest.Default())
		}, 0, "", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := &survey.Refusals{}
			c.notes(r)
			if code, wait := until(r, c.after); code != c.code || wait != c.wait {
				t.Errorf("blocked by %q for %v, want %q for %v", code, wait, c.code, c.wait)
			}
		})
	}
}

// consolidateAfter starts at the last pod event, or else when the claim was initialized; until it has passed the node takes no pods of
// others.
func TestQuietSince(t *testing.T) {
	f := fleettest.New()
	f.Node("a", "c4")
	m := f.Survey(t).In.View.Nodes[0]
	initialized, event := fleettest.Now().Add(-24*time.Hour), fleettest.Now().Add(-time.Minute)
	if got := survey.QuietSince(&m, fleettest.Now()); !got.Equal(initialized) {
		t.Errorf("without an event since %v, want %v", got, initialized)
	}
	m.LastPodEvent = event
	if got := survey.QuietSince(&m, fleettest.Now()); !got.Equal(event) {
		t.Errorf("since %v, want %v", got, event)
	}
	for text, want := range map[string]bool{"2m": true, "1m": false, "0s": false, "Never": false} {
		wait, err := v1.ParseNillableDuration(text)
		if err != nil {
			t.Fatal(err)
		}
		f.Pool.Spec.Disruption.ConsolidateAfter = wait
		if got := survey.ClosedTo(&m, f.Pool, fleettest.Now()); got != want {
			t.Errorf("a minute after the event, with %s, closed: %v, want %v", text, got, want)
		}
	}
	m.Claim = nil
	if got := survey.QuietSince(&m, fleettest.Now()); !got.IsZero() {
		t.Errorf("a node without a claim is quiet since %v", got)
	}
}
