package disruption

import (
	"time"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/internal/consolidate/survey"
	"github.com/drawknife/drawknife/scheduling/cluster"
)

// MarkConsolidatable maintains the claim's condition Consolidatable. The condition is true once consolidateAfter has passed, and absent
// before. It returns whether the claim was changed, and after how long to call it again if nothing changes before; 0 means never. pool is
// the claim's pool. It changes nothing if pool is nil or the claim is being deleted. claim must not be shared. m.Claim may be a different
// object for the same claim.
func MarkConsolidatable(claim *v1.NodeClaim, m *cluster.NodeState, pool *v1.NodePool, now time.Time) (changed bool, again time.Duration) {
	if claim == nil || m == nil || pool == nil {
		return false, 0
	}
	if pool == nil || claim.DeletionTimestamp != nil {
		return false, 0
	}
	quiet := QuietOf(pool, survey.QuietSince(m, now), now)
	if quiet.Reached {
		return claim.Conditions().SetTrue(v1.ConditionConsolidatable, now), 0
	}
	if !quiet.Until.IsZero() {
		again = quiet.Until.Sub(now)
	}
	return claim.Conditions().Clear(v1.ConditionConsolidatable, now), again
}
