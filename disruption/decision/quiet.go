package decision

import (
	"time"

	v1 "github.com/drawknife/drawknife/api/v1"
)

// Quiet is what consolidateAfter makes of a node at some time.
type Quiet struct {
	// Reached says that the waiting time is over: the node may be consolidated.
	Reached bool
	// Until is when it will be over if no pod comes or goes; zero when it is reached, and when it never will be.
	Until time.Time
}

// QuietOf says whether the pool's consolidateAfter has passed for a node that is quiet since then (see
// Candidate.QuietSince): never for a static pool, for consolidateAfter Never and for a node that is not initialised, for
// which since is zero. consolidateAfter left out is 0s.
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
