package disruption_test

import (
	"errors"
	"testing"
	"time"

	"github.com/drawknife/drawknife/disruption"
)

// DIS-187: members are marked when all replacements are there, not when they are asked for: one that can't be created has marked
// nobody.
func TestExecutionMarksLast(t *testing.T) {
	cmd, s := newStage(1, 2)
	e := disruption.Execute(cmd)
	s.now = s.now.Add(15 * time.Second)
	for range 10 {
		o := s.observed()
		if e.State() == disruption.StateValidating {
			o.Validation = s.verdict
		}
		asked := false
		for _, effect := range e.Next(o, s.now).Effects {
			switch x := effect.(type) {
			case disruption.LaunchReplacement:
				asked = true
				if x.Index == 1 && s.repl[0].Claim == "" {
					continue // the second comes later than the first
				}
			case disruption.MarkNode:
				if asked || s.repl[0].Claim == "" || s.repl[1].Claim == "" {
					t.Fatalf("%s, and the replacements are %+v", effect, s.repl)
				}
			}
			s.do(effect)
		}
		if e.State() == disruption.StateWaiting {
			return
		}
	}
	t.Fatalf("it is %s", e.State())
}

// DIS-189: a replacement that was ready once is not looked at again: the command goes on without it.
func TestExecutionReadyOnce(t *testing.T) {
	cmd, s := newStage(1, 2)
	e := disruption.Execute(cmd)
	s.run(e, disruption.StateWaiting)
	s.initialize(0)
	if s.step(e); e.Unready() != 1 {
		t.Fatalf("%d are not ready", e.Unready())
	}
	s.repl[0].Stored, s.repl[0].Known = nil, false
	if step := s.step(e); step.State != disruption.StateWaiting {
		t.Fatalf("%s, %v", step.State, step.Err)
	}
	s.initialize(1)
	if step := s.run(e, disruption.StateDone); step.State != disruption.StateDone || !s.deleted["n0"] {
		t.Errorf("%s, %v", step.State, step.Err)
	}
}

// DIS-191: a command may be ten minutes old, from its start on, and not older.
func TestExecutionTenMinutes(t *testing.T) {
	cmd, s := newStage(1, 1)
	cmd.NotBefore = cmd.Planned // it need not be validated
	e := disruption.Execute(cmd)
	s.now = s.now.Add(time.Hour) // it waited for its start
	begun := s.now
	s.run(e, disruption.StateWaiting)
	if late := s.now.Sub(begun); late > time.Minute {
		t.Fatalf("it took %s", late)
	}
	s.now = begun.Add(10 * time.Minute)
	if step := s.step(e); step.State != disruption.StateWaiting {
		t.Fatalf("after ten minutes: %s, %v", step.State, step.Err)
	}
	s.now = s.now.Add(time.Nanosecond)
	if s.step(e); e.State() != disruption.StateUndoing && e.State() != disruption.StateFailed {
		t.Fatalf("older than that: %s", e.State())
	}
	if step := s.run(e, disruption.StateFailed); !errors.Is(step.Err, disruption.ErrTimeout) {
		t.Errorf("%v", step.Err)
	}
}

// A node of a member's name with another claim is none of the command's: it is neither deleted nor, when the command fails, given
// back.
func TestExecutionLeavesOthersAlone(t *testing.T) {
	for _, fails := range []bool{false, true} {
		cmd, s := newStage(1, 1)
		e := disruption.Execute(cmd)
		s.run(e, disruption.StateWaiting)
		other := s.members["n0"]
		other.Claim = other.Claim.DeepCopy()
		other.Claim.UID = "other"
		s.members["n0"], s.log = other, nil
		if s.initialize(0); fails {
			s.repl[0].Stored, s.repl[0].Known = nil, false
		}
		if step := s.run(e, disruption.StateDone); (step.State == disruption.StateFailed) != fails || len(s.log) > 0 {
			t.Errorf("fails %v: %s, %v, and does %q", fails, step.State, step.Err, s.log)
		}
	}
}
