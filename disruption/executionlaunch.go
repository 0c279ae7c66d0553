package disruption

import (
	"errors"
	"fmt"
	"time"

	"github.com/drawknife/drawknife/disruption/decision"
)

// launch creates the replacements, and then marks the members in memory, nominates the receivers and adds the command to the history. If a
// replacement can't be created, the command fails. Members are marked so that provisioning does not launch further nodes for their pods.
// All of this is done before any member is deleted.
func (e *Execution) launch(o Observed, now time.Time, step *Step) {
	if gone := e.membersGone(o); gone != "" {
		e.fail(fmt.Errorf("%w: node %s", ErrMemberGone, gone))
		return
	}
	if e.missing(o, now, step) {
		return
	}
	unmarked := false
	for _, m := range e.members(o) {
		if !m.now.Marked && !m.going() {
			unmarked = true
			step.Effects = append(step.Effects, MarkNode{m.member.Node})
		}
	}
	if unmarked {
		return
	}
	if !e.nominated {
		e.nominated = true
		for _, r := range e.cmd.Receivers {
			step.Effects = append(step.Effects, NominateNode{r.Name})
		}
	}
	if e.noted && o.NoteErr == nil {
		e.state = StateWaiting
		return
	}
	if e.noted && e.notingSince.IsZero() {
		e.notingSince = now
	}
	if !e.notingSince.IsZero() && now.Sub(e.notingSince) >= notingMost {
		e.fail(fmt.Errorf("%w: %w", ErrHistory, o.NoteErr))
		return
	}
	e.noted = true
	step.Effects = append(step.Effects, NoteDisruptions{e.disruptions(o, now)})
}

// missing requests the replacements that do not exist yet. It returns true if the execution must wait, because launches were requested, or
// because the command failed. A replacement that can't be created makes the command fail.
func (e *Execution) missing(o Observed, now time.Time, step *Step) bool {
	var launches []Effect
	var held *HeldBack
	launched := 0
	for i := range e.cmd.Replacements {
		switch r := replacementAt(o, i); {
		case r.Err != nil:
			e.fail(fmt.Errorf("%w: %w", ErrLaunch, r.Err))
			return true
		case r.Claim != "":
			launched++
		default:
			launches = append(launches, LaunchReplacement{i, e.cmd.Replacements[i], e.token(i), e.replacementRecord(i)})
			if r.HeldBack != nil && now.Before(r.HeldBack.Until) && (held == nil || r.HeldBack.Until.After(held.Until)) {
				held = r.HeldBack
			}
		}
	}
	if held != nil && e.holdsTooLong(held, launched, now) {
		e.fail(&HeldBackError{Until: held.Until, Why: held.Why, Launched: launched})
		return true
	}
	if held != nil {
		step.Again = min(executionEvery, held.Until.Sub(now))
	}
	step.Effects = append(step.Effects, launches...)
	return len(launches) > 0
}

// holdsTooLong reports whether the command should be undone and not wait until the launch may be tried again. No plan is made while
// replacements are launched, and a command that has launched nothing can be undone without cost.
func (e *Execution) holdsTooLong(held *HeldBack, launched int, now time.Time) bool {
	if e.heldSince.IsZero() {
		e.heldSince = now
	}
	return launched == 0 || held.Until.Sub(e.heldSince) > heldBackMost
}

// membersGone returns the name of a member that someone else is removing. It returns "" if there is no such member, if a replacement was
// already launched, or if the command has no replacements. Provisioning launches nodes for the pods of such a member, so the command's plan
// is out of date.
func (e *Execution) membersGone(o Observed) string {
	for i := range e.cmd.Replacements {
		if replacementAt(o, i).Claim != "" {
			return ""
		}
	}
	for _, m := range e.members(o) {
		if len(e.cmd.Replacements) > 0 && m.going() {
			return m.member.Node
		}
	}
	return ""
}

// failureEvents returns the events of a command that has failed after its start and is undone. Commands that were refused or are no longer
// valid have other events.
func (e *Execution) failureEvents() []Event {
	if e.err == nil || errors.Is(e.err, ErrVoid) || errors.Is(e.err, ErrRefused) {
		return nil
	}
	if errors.Is(e.err, ErrHeldBack) {
		return e.cmd.HeldBackEvents(e.err)
	}
	var out []Event
	for i := range e.cmd.Members {
		out = append(out, e.cmd.Members[i].Events(Event{
			Warning: true, Reason: EventDisruptionFailed, Identity: causeOf(e.err), Message: "took back its disruption: " + e.err.Error(),
		})...)
	}
	return out
}

// causeOf returns the cause of the failure, as a value of a metric's label.
func causeOf(err error) string {
	for _, cause := range []struct {
		is   error
		name string
	}{
		{ErrHeldBack, decision.CauseHeldBack}, {ErrTainting, "write_refused"}, {ErrLaunch, "launch_refused"}, {ErrHistory, "history_refused"}, {ErrMemberGone, "member_gone"},
		{ErrReplacementGone, "replacement_gone"}, {ErrTimeout, "timeout"}, {ErrInterrupted, "interrupted"},
	} {
		if errors.Is(err, cause.is) {
			return cause.name
		}
	}
	return "other"
}
