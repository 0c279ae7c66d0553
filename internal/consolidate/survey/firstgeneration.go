package survey

import (
	"fmt"
	"time"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/api/v1alpha5"
	"github.com/drawknife/drawknife/disruption/decision"
	"github.com/drawknife/drawknife/scheduling/cluster"
)

// alphaBorn reports whether the pool was born in the first generation, as a Provisioner.
func alphaBorn(key v1.PoolKey) bool { return key.Generation == v1.GenerationV1Alpha5 }

// statesBudgets reports whether somebody wrote budgets for the pool: neither none nor the one that defaulting writes. A
// Provisioner has no field for them, so what is there came with its v1 form.
func statesBudgets(object *v1.NodePool) bool {
	list := object.Spec.Disruption.Budgets
	byDefault := len(list) == 1 && list[0].Reasons == nil && list[0].Schedule == nil && list[0].Duration == nil &&
		(list[0].Nodes == "" || list[0].Nodes == v1.DefaultBudgetNodes)
	return list != nil && !byDefault
}

// driftOneByOne is the bound on the drift of a pool that was born in the first generation: its releases knew no budgets and
// replaced one drifted node at a time, which who rolls such a pool by its taint relies on. Pools with budgets of their own
// go by these alone. Like any budget it counts every node of the pool that is being disrupted or not ready.
func driftOneByOne(key v1.PoolKey, object *v1.NodePool) (decision.Budget, bool) {
	if !alphaBorn(key) || statesBudgets(object) {
		return decision.Budget{}, false
	}
	return decision.Budget{
		Name:    fmt.Sprintf("the rule that nodepool %s, born in %s without budgets, replaces one drifted node at a time", key, key.Generation),
		Reasons: []decision.Reason{decision.ReasonDrifted}, Scope: decision.Scope{Pool: key}, Unit: decision.UnitNodes, Amount: 1,
	}, true
}

// foundEmpty is when a release of the first generation found the node empty, as it noted on nodes of its pools: its Machine
// knows of no pod events, so that without the note the waiting time would seem to be over at the moment the node is taken over.
// Zero for nodes of other pools, without the note, for one that can't be read, and for a time that has yet to come. The note is
// never written.
func foundEmpty(m *cluster.Machine, now time.Time) time.Time {
	if m.Node == nil || !alphaBorn(m.Pool) {
		return time.Time{}
	}
	at, err := time.Parse(time.RFC3339, m.Node.Annotations[v1alpha5.EmptinessTimestampAnnotationKey])
	if err != nil || at.After(now) {
		return time.Time{}
	}
	return at
}
