package disruption

import "time"

// When to plan again.
const (
	// PlanEvery is how long to wait after a pass that found nothing to do.
	PlanEvery = 10 * time.Second
	// SyncEvery is how long to wait for a view that is not complete yet.
	SyncEvery = time.Second
	// paceFirst and paceMost are the shortest and the longest wait after an error.
	paceFirst = time.Second
	paceMost  = time.Minute
)

// PassOutcome is the result of a pass. A pass takes a view, cleans up what earlier commands left, plans, and starts commands.
type PassOutcome int

// The outcomes.
const (
	// PassFruitless: the pass found nothing, or could not start anything.
	PassFruitless PassOutcome = iota
	// PassStarted: at least one command was started. There may be more to do, so the next pass starts at once and tries all methods.
	PassStarted
	// PassNotSynced: the view is incomplete, so nothing was planned.
	PassNotSynced
	// PassConflict: someone else wrote to an object at the same time; the pass is repeated at once.
	PassConflict
	// PassFailed: the pass failed with any other error.
	PassFailed
)

// Pace computes when a planning loop runs its next pass. It has no clock. The zero value is ready to use. Use it from one goroutine.
type Pace struct {
	conflicts, failures int
}

// mostConflicts is the number of conflicts in a row after which a pass is still repeated at once. After more conflicts, Pace waits like
// after an error, so that two writers can't keep a loop busy.
const mostConflicts = 5

// After returns how long to wait after a pass; 0 means not to wait. After errors it waits longer each time, from a second to a minute, until a
// pass succeeds.
func (p *Pace) After(o PassOutcome) time.Duration {
	if o == PassConflict {
		if p.conflicts++; p.conflicts <= mostConflicts {
			return 0
		}
		o = PassFailed
	} else {
		p.conflicts = 0
	}
	if o == PassFailed {
		wait := min(paceFirst<<min(p.failures, 10), paceMost)
		p.failures++
		return wait
	}
	p.failures = 0
	switch o {
	case PassStarted:
		return 0
	case PassNotSynced:
		return SyncEvery
	}
	return PlanEvery
}

// idleFor is how long a plan that found nothing is not repeated while no visible state changes. After this time it is repeated, because
// prices and availability may have changed.
const idleFor = 5 * time.Minute

// Idle remembers that a plan found nothing to do, to avoid planning again until something may have changed. The zero value remembers
// nothing. Use it from one goroutine.
type Idle struct {
	known    bool
	revision uint64
	until    time.Time
}

// Note records the result of a plan for a view of the revision (cluster.View.Revision). After a plan with commands, or a plan that left
// something out because of budgets, the next plan follows at once. If a plan says when the next plan may find something, the next plan
// waits until then. Drift is not part of a revision: call Forget when a claim becomes drifted.
func (i *Idle) Note(p *Plan, revision uint64) {
	if p == nil {
		return
	}
	i.known = len(p.Commands) == 0 && !p.Waiting
	i.revision, i.until = revision, p.Time.Add(idleFor)
	if p.Again.After(p.Time) && p.Again.Before(i.until) {
		i.until = p.Again
	}
}

// Forget forces the next pass to plan.
func (i *Idle) Forget() { i.known = false }

// Wait returns how long planning is unnecessary if the revision does not change; 0 means plan now.
func (i *Idle) Wait(revision uint64, now time.Time) time.Duration {
	if !i.known || i.revision != revision {
		return 0
	}
	return max(0, i.until.Sub(now))
}
