package disruption

import "time"

// When to plan again.
const (
	// PlanEvery is how long to wait after a pass that found nothing to do.
	PlanEvery = 10 * time.Second
	// SyncEvery is how long to wait for a view that is not complete yet.
	SyncEvery = time.Second
	// paceFirst and paceMost bound the back-off after errors.
	paceFirst = time.Second
	paceMost  = time.Minute
)

// PassOutcome is what became of one pass: a view taken, leftovers cleaned up, a plan made, its commands begun.
type PassOutcome int

// The outcomes.
const (
	// PassFruitless: nothing was found, or nothing of it could be begun.
	PassFruitless PassOutcome = iota
	// PassStarted: at least one command was begun: there may be more to do, and it is looked for at once, again from the
	// first method on.
	PassStarted
	// PassNotSynced: the view is not complete: nothing was planned.
	PassNotSynced
	// PassConflict: somebody else wrote to an object at the same time: all is looked at again at once.
	PassConflict
	// PassFailed: any other error.
	PassFailed
)

// Pace says when the next pass of a loop that plans is due. It holds no clock. The zero value is
// ready; it is one goroutine's.
type Pace struct {
	conflicts, failures int
}

// mostConflicts in a row are repeated at once; then they count as failures, so that two writers can't keep a loop spinning.
const mostConflicts = 5

// After is how long to wait after a pass with the outcome; 0 is not at all. Errors are waited for longer each time, from a
// second to a minute, until a pass comes to its end.
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
