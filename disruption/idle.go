package disruption

import "time"

// idleFor is when to repeat a plan that found nothing although no visible state has changed: prices and availability may have.
const idleFor = 5 * time.Minute

// Idle remembers that there was nothing to do, to avoid planning again until something may have changed. The zero value remembers nothing.
// Use it from one goroutine.
type Idle struct {
	known    bool
	revision uint64
	until    time.Time
}

// Note records the result of a plan for a view of the revision (cluster.View.Revision). After a plan that found something, or
// left something out because of budgets, the next plan follows at once; if a plan says when it may find something, the next one
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

// Wait returns how long planning is unnecessary if the revision stays; 0 means plan now.
func (i *Idle) Wait(revision uint64, now time.Time) time.Duration {
	if !i.known || i.revision != revision {
		return 0
	}
	return max(0, i.until.Sub(now))
}
