package decision

import (
	"time"

	v1 "github.com/drawknife/drawknife/api/v1"
)

// Quiet says whether a node's consolidateAfter has passed at some time.
type Quiet struct {
	// Reached means that the waiting time is over: the node may be consolidated.
	Reached bool
	// Until is when the waiting time will be over if no pod is bound to the node or leaves it before. Until is zero if the waiting time is
	// over or will never be over.
	Until time.Time
}

// QuietOf says whether the pool's consolidateAfter has passed for a node that has been quiet since the given time (see
// Candidate.QuietSince). consolidateAfter never passes for a static pool, for consolidateAfter Never, and for a node that is not
// initialized: its since is zero. A missing consolidateAfter means 0s.
func QuietOf(pool *v1.NodePool, since, now time.Time) Quiet {
	if pool == nil {
		return Quiet{}
	}
	after := pool.Spec.Disruption.ConsolidateAfter
	if pool.IsStatic() || after.IsNever() || since.IsZero() {
		return Quiet{}
	}
	wait, _ := after.Duration()
	if until := since.Add(wait); now.Before(until) {
		return Quiet{Until: until}
	}
	return Quiet{Reached: true}
}
