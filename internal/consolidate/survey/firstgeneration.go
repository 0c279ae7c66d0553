package survey

import (
	"fmt"
	"time"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/api/v1alpha5"
	"github.com/drawknife/drawknife/disruption/decision"
	"github.com/drawknife/drawknife/scheduling/cluster"
)

// alphaBorn reports whether the pool was created as v1alpha5, as a Provisioner.
func alphaBorn(key v1.PoolKey) bool { return key.Generation == v1.GenerationV1Alpha5 }

// statesBudgets reports whether someone set budgets for the pool: neither none nor the default. A Provisioner has no field for them, so
// they were set on its v1 form.
func statesBudgets(object *v1.NodePool) bool {
	list := object.Spec.Disruption.Budgets
	byDefault := len(list) == 1 && list[0].Reasons == nil && list[0].Schedule == nil && list[0].Duration == nil &&
		(list[0].Nodes == "" || list[0].Nodes == v1.DefaultBudgetNodes)
	return list != nil && !byDefault
}

// driftOneByOne returns the limit on drift of a pool created as v1alpha5: its releases had no budgets and replaced one drifted node at a
// time, and people who roll such a pool by changing its taint rely on that. Pools with their own budgets use only these. Like any budget it
// counts every node of the pool that is being disrupted or not ready.
func driftOneByOne(key v1.PoolKey, object *v1.NodePool) (decision.Budget, bool) {
	if !alphaBorn(key) || statesBudgets(object) {
		return decision.Budget{}, false
	}
	return decision.Budget{
		Name:    fmt.Sprintf("the rule that nodepool %s, created as %s without budgets, replaces one drifted node at a time", key, key.Generation),
		Reasons: []decision.Reason{decision.ReasonDrifted}, Scope: decision.Scope{Pool: key}, Unit: decision.UnitNodes, Amount: 1,
	}, true
}

// foundEmpty returns when a v1alpha5 release found the node empty, as it noted on the node. Its Machine records no pod events: without the
// note, consolidateAfter would seem to have passed as soon as the node is adopted. Zero for nodes of other pools, without the note, for an
// unreadable note, and for a future time. The note is never written.
func foundEmpty(m *cluster.NodeState, now time.Time) time.Time {
	if m.Node == nil || !alphaBorn(m.Pool) {
		return time.Time{}
	}
	at, err := time.Parse(time.RFC3339, m.Node.Annotations[v1alpha5.EmptinessTimestampAnnotationKey])
	if err != nil || at.After(now) {
		return time.Time{}
	}
	return at
}
