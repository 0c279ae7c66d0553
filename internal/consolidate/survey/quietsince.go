package survey

import (
	"time"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/scheduling/cluster"
)

// QuietSince returns the time at which consolidateAfter starts: the last pod event, or the claim's initialization if there was no pod
// event. The result is not before the time at which a v1alpha5 release found the node empty. It is zero if the claim is not initialized.
func QuietSince(m *cluster.NodeState, now time.Time) time.Time {
	if m.Claim == nil {
		return time.Time{}
	}
	initialized, ok := TrueSince(m.Claim, v1.ConditionInitialized)
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

// TrueSince returns the time since which a condition of the claim is true. It only reads the claim.
func TrueSince(claim *v1.NodeClaim, kind string) (time.Time, bool) {
	for i := range claim.Status.Conditions {
		if c := &claim.Status.Conditions[i]; c.Type == kind {
			return c.LastTransitionTime.Time, c.Status == "True"
		}
	}
	return time.Time{}, false
}

// ClosedTo reports whether the node accepts no pods of consolidated nodes because its own consolidateAfter has not passed. It is false for
// pools without consolidateAfter, and for nodes that are not initialized.
func ClosedTo(m *cluster.NodeState, pool *v1.NodePool, now time.Time) bool {
	if pool == nil {
		return false
	}
	wait, ok := pool.Spec.Disruption.ConsolidateAfter.Duration()
	since := QuietSince(m, now)
	return ok && wait > 0 && !since.IsZero() && now.Sub(since) < wait
}
