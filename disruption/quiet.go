package disruption

import (
	"time"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/scheduling/cluster"
)

// quietSince is when the waiting time of consolidateAfter begins: at the last pod event, without one at the claim's
// initialisation, and not before a release of the first generation found the node empty. Zero when the claim is not
// initialised.
func quietSince(m *cluster.Machine, now time.Time) time.Time {
	if m.Claim == nil {
		return time.Time{}
	}
	initialized, ok := trueSince(m.Claim, v1.ConditionInitialized)
	if !ok {
		return time.Time{}
	}
	since := m.LastPodEvent
	if since.IsZero() {
		since = initialized
	}
	if empty := foundEmpty(m, now); empty.After(since) {
		return empty
	}
	return since
}

// trueSince is since when a condition of the claim is true. The claim is only read.
func trueSince(claim *v1.NodeClaim, kind string) (time.Time, bool) {
	for i := range claim.Status.Conditions {
		if c := &claim.Status.Conditions[i]; c.Type == kind {
			return c.LastTransitionTime.Time, c.Status == "True"
		}
	}
	return time.Time{}, false
}

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

// MarkConsolidatable keeps the claim's condition Consolidatable: true once consolidateAfter has passed, absent before. It
// reports whether the claim was changed, and when to look again if nothing happens before; 0 is never. pool is the
// claim's; without one, and on a claim that is being deleted, nothing is changed. claim must not be shared. m.Claim need
// not be the same object, but must be the same claim.
func MarkConsolidatable(claim *v1.NodeClaim, m *cluster.Machine, pool *v1.NodePool, now time.Time) (changed bool, again time.Duration) {
	if claim == nil || m == nil || pool == nil {
		return false, 0
	}
	if pool == nil || claim.DeletionTimestamp != nil {
		return false, 0
	}
	quiet := QuietOf(pool, quietSince(m, now), now)
	if quiet.Reached {
		return claim.Conditions().SetTrue(v1.ConditionConsolidatable, now), 0
	}
	if !quiet.Until.IsZero() {
		again = quiet.Until.Sub(now)
	}
	return claim.Conditions().Clear(v1.ConditionConsolidatable, now), again
}

// closedTo reports whether the node takes no pods of nodes that are consolidated, since its own waiting time is
// running. Pools without one, and nodes that are not initialised, are always open.
func closedTo(m *cluster.Machine, pool *v1.NodePool, now time.Time) bool {
	if pool == nil {
		return false
	}
	wait, ok := pool.Spec.Disruption.ConsolidateAfter.Duration()
	since := quietSince(m, now)
	return ok && wait > 0 && !since.IsZero() && now.Sub(since) < wait
}
