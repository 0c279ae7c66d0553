package disruption

import "time"

// idleFor is after how long a fruitless plan is repeated although nothing that can be seen has changed: prices and
// availability may have.
const idleFor = 5 * time.Minute

// Idle remembers that there was nothing to do, so that nothing is planned again until that may have changed. The zero
// value remembers nothing. It is one goroutine's.
type Idle struct {
	known    bool
	revision uint64
	until    time.Time
}

// Note remembers what became of a plan for a view of the revision (cluster.View.Revision): one that found something, or left
// something out for lack of budget, is no reason to wait; one that knows when it may find something, until then. Drift is
// not part of a revision: when a claim begins to be drifted, call Forget.
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

// Forget has the next plan made whatever is remembered.
func (i *Idle) Forget() { i.known = false }

// Wait is for how long nothing needs to be planned if the revision stays; 0 is plan now.
func (i *Idle) Wait(revision uint64, now time.Time) time.Duration {
	if !i.known || i.revision != revision {
		return 0
	}
	return max(0, i.until.Sub(now))
}
