package disruption_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/drawknife/drawknife/disruption"
)

// holdBack has the launch rate limiter hold back the launch of a replacement until a time.
func (s *stage) holdBack(index int, until time.Time) {
	s.repl[index].HeldBack = &disruption.HeldBack{Until: until, Why: "NodesPerMinute is 1"}
}

// A command none of whose replacements may be launched yet is taken back at once, whatever the time it would have to wait: others are planned.
func TestHeldBackCommandIsTakenBack(t *testing.T) {
	for _, wait := range []time.Duration{time.Second, 10 * time.Minute} {
		cmd, s := newStage(1, 1)
		e := disruption.Execute(cmd)
		s.refuse["launch replacement of default"] = nil // asked, and not let through
		s.run(e, disruption.StateLaunching)
		until := s.now.Add(wait)
		s.holdBack(0, until)
		began := s.now
		step := s.step(e)
		if step.State != disruption.StateUndoing || len(step.Events) != 2 || step.Events[0].Reason != disruption.EventDisruptionHeldBack || !strings.Contains(step.Events[0].Message, "NodesPerMinute is 1") {
			t.Errorf("%s: %+v", wait, step)
		}
		step = s.run(e, disruption.StateFailed)
		var held *disruption.HeldBackError
		if !errors.As(step.Err, &held) || !held.Until.Equal(until) || held.Launched != 0 || !errors.Is(step.Err, disruption.ErrHeldBack) {
			t.Errorf("%s: %v", wait, step.Err)
		}
		if took := s.now.Sub(began); took > 5*time.Second || s.left() != "" {
			t.Errorf("%s: after %s, left %q", wait, took, s.left())
		}
		if got := counts(t, e.FailureSamples()); len(got) != 2 || got[0] != "voluntary_disruption_command_failures_total{cause=held_back,consolidation_type=multi,reason=underutilized} 1" {
			t.Errorf("%s: %q", wait, got)
		}
	}
}

// One that has launched something waits for what is left, two minutes in all at most: others wait meanwhile.
func TestHeldBackCommandWaitsForTheRest(t *testing.T) {
	for name, c := range map[string]struct {
		waits []time.Duration
		want  disruption.State
	}{
		"a minute":                    {[]time.Duration{time.Minute}, disruption.StateWaiting},
		"a minute and a half-minute":  {[]time.Duration{time.Minute, 30 * time.Second}, disruption.StateWaiting},
		"ten minutes":                 {[]time.Duration{10 * time.Minute}, disruption.StateFailed},
		"a minute, again and again":   {[]time.Duration{time.Minute, time.Minute, time.Minute}, disruption.StateFailed},
		"a minute that is over, none": {nil, disruption.StateWaiting},
	} {
		cmd, s := newStage(1, 2)
		e := disruption.Execute(cmd)
		s.run(e, disruption.StateTainting)
		s.holdBack(1, s.now.Add(-time.Second))
		s.refuse["launch replacement of default"] = nil
		s.run(e, disruption.StateLaunching)
		delete(s.refuse, "launch replacement of default")
		s.do(disruption.LaunchReplacement{Index: 0})
		s.refuse["launch replacement of default"] = nil
		var step disruption.Step
		for _, wait := range c.waits {
			until := s.now.Add(wait)
			s.holdBack(1, until)
			for step = s.step(e); step.State == disruption.StateLaunching && s.now.Before(until); step = s.step(e) {
				if step.Again <= 0 {
					t.Fatalf("%s: %+v", name, step)
				}
				s.now = s.now.Add(step.Again)
			}
		}
		delete(s.refuse, "launch replacement of default")
		if step = s.run(e, c.want); step.State != c.want {
			t.Errorf("%s: %s", name, step.State)
		}
		var held *disruption.HeldBackError
		if failed := c.want == disruption.StateFailed; failed != errors.As(step.Err, &held) || failed && (held.Launched != 1 || s.left() != "") {
			t.Errorf("%s: %v, left %q", name, step.Err, s.left())
		}
	}
}

// A history that can't be stored ends the command after a minute; a short fault does not.
func TestHistoryThatCannotBeStored(t *testing.T) {
	for lasts, want := range map[time.Duration]disruption.State{30 * time.Second: disruption.StateWaiting, time.Hour: disruption.StateFailed} {
		cmd, s := newStage(1, 1)
		e := disruption.Execute(cmd)
		s.run(e, disruption.StateLaunching)
		began := s.now
		var step disruption.Step
		for range 200 {
			o := s.observed()
			if s.now.Sub(began) < lasts {
				o.NoteErr = errors.New("denied by a webhook")
			}
			if step = e.Next(o, s.now); step.State == want || step.State.Final() {
				break
			}
			for _, effect := range step.Effects {
				s.do(effect)
			}
			s.now = s.now.Add(step.Again)
		}
		if step.State != want || s.now.Sub(began) > 2*time.Minute {
			t.Errorf("%s: %s after %s", lasts, step.State, s.now.Sub(began))
		}
		if failed := want == disruption.StateFailed; failed != errors.Is(step.Err, disruption.ErrHistory) || failed && !strings.Contains(step.Err.Error(), "denied by a webhook") {
			t.Errorf("%s: %v", lasts, step.Err)
		}
	}
}

// Nodes whose commands are refused are left alone for a growing time, until one succeeds; verdicts say why.
func TestRefusalsOfFailures(t *testing.T) {
	w := newWorld()
	w.node("n", "c4", drifted(time.Hour))
	w.input.Refusals = disruption.NewRefusals()
	cmd := w.plan(t, &disruption.Reference{}).Commands[0]
	denied := errors.Join(disruption.ErrTainting, errors.New("denied by a webhook"))
	at := now()
	for i, want := range []time.Duration{time.Minute, 2 * time.Minute, 4 * time.Minute, 8 * time.Minute, 10 * time.Minute, 10 * time.Minute} {
		if !w.input.Refusals.Failed(cmd, denied, at) {
			t.Fatal("it is passed over")
		}
		b := w.input.Refusals.Blocks(cmd.Members[0].UID, disruption.ReasonEmpty, at)
		if b == nil || b.Code != disruption.BlockFailed || !b.Until.Equal(at.Add(want)) || b.Count != i+1 {
			t.Fatalf("failure %d: %+v, want %s", i+1, b, want)
		}
		at = b.Until
		if w.input.Refusals.Blocks(cmd.Members[0].UID, disruption.ReasonEmpty, at) != nil {
			t.Error("it is blocked after its time")
		}
	}
	w.snapshot.Time = at.Add(-time.Minute)
	p := w.plan(t, &disruption.Reference{})
	if b := why(t, p, "n", disruption.MethodDrift); !strings.HasPrefix(b.String(), "its disruption failed 6 times in a row (tainting members\ndenied by a webhook) until ") {
		t.Errorf("%q", b)
	}
	w.input.Refusals.Succeeded(cmd)
	if got := said(w.plan(t, &disruption.Reference{})); got != "Emptiness: n" {
		t.Errorf("after a success: %q", got)
	}
	if w.input.Refusals.Failed(cmd, denied, at); w.input.Refusals.Blocks(cmd.Members[0].UID, disruption.ReasonDrifted, at).Count != 1 {
		t.Error("a success does not end the row")
	}
	w.input.Refusals.Failed(cmd, denied, at.Add(2*time.Hour))
	if w.input.Refusals.Blocks(cmd.Members[0].UID, disruption.ReasonDrifted, at.Add(2*time.Hour)).Count != 1 {
		t.Error("a failure of hours ago counts")
	}
	for _, err := range []error{nil, disruption.ErrVoid, disruption.ErrMemberGone, disruption.ErrReplacementGone, disruption.ErrTimeout, disruption.ErrInterrupted} {
		if w.input.Refusals.Failed(cmd, err, at) {
			t.Errorf("%v has nodes left alone", err)
		}
	}
}

// What is held back is left alone until the launch may be tried; in a row only if something was launched in vain.
func TestRefusalsOfWhatIsHeldBack(t *testing.T) {
	cmd, _ := newStage(1, 1)
	r := disruption.NewRefusals()
	uid := cmd.Members[0].UID
	for i, c := range []struct{ until, launched, want int }{{300, 0, 300}, {1, 0, 10}, {1, 1, 60}, {1, 2, 120}, {1, 0, 10}, {900, 1, 900}} {
		r.Failed(cmd, &disruption.HeldBackError{Until: now().Add(time.Duration(c.until) * time.Second), Why: "CostIncrease is 1.00", Launched: c.launched}, now())
		b := r.Blocks(uid, disruption.ReasonUnderutilized, now())
		if b == nil || b.Code != disruption.BlockHeldBack || !b.Until.Equal(now().Add(time.Duration(c.want)*time.Second)) || !strings.HasPrefix(b.String(), "its disruption is held back (CostIncrease is 1.00)") {
			t.Errorf("%d: %+v", i, b)
		}
	}
}

// No node of a pool that can't be written to goes, until it can; other pools' do.
func TestClosedPool(t *testing.T) {
	w := newWorld()
	w.pool("other")
	w.node("n", "c4", drifted(time.Hour))
	w.node("m", "c4", ofPool("other"))
	w.input.Refusals = disruption.NewRefusals()
	pool := w.pool("default").Key()
	w.input.Refusals.ClosePool(pool, "denied by a webhook", now().Add(time.Minute))
	for name, planner := range map[string]disruption.Planner{"Reference": &disruption.Reference{}, "Global": &disruption.Global{CoolDown: new(time.Duration)}} {
		p, err := planner.Plan(t.Context(), w.fleet(t))
		if err != nil {
			t.Fatal(err)
		}
		if got := said(p); got != "Emptiness: m" {
			t.Errorf("%s: %q", name, got)
		}
		if b := why(t, p, "n", disruption.MethodEmptiness); b.String() != `nodepool "default" can't be written to (denied by a webhook) until 2026-05-04T10:01:00Z` {
			t.Errorf("%s: %q", name, b)
		}
	}
	w.input.Refusals.OpenPool(pool)
	if got := said(w.plan(t, &disruption.Reference{})); !strings.Contains(got, "n") {
		t.Errorf("opened: %q", got)
	}
	var none *disruption.Refusals
	none.ClosePool(pool, "", now())
	none.OpenPool(pool)
	none.Succeeded(nil)
	if none.BlocksPool(pool, now()) != nil || none.Failed(nil, disruption.ErrLaunch, now()) {
		t.Error("nil refuses")
	}
}
