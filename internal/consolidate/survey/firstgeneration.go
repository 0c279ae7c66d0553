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

// statesBudgets reports whether the pool has budgets that someone has set, other than the default. A Provisioner has no field for budgets,
// so they were set on its v1 form.
func statesBudgets(object *v1.NodePool) bool {
	list := object.Spec.Disruption.Budgets
	byDefault := len(list) == 1 && list[0].Reasons == nil && list[0].Schedule == nil && list[0].Duration == nil &&
		(list[0].Nodes == "" || list[0].Nodes == v1.DefaultBudgetNodes)
	return list != nil && !byDefault
}

// driftOneByOne returns the limit on drift for a pool created as v1alpha5. Karpenter's releases with v1alpha5 had no budgets and replaced
// one drifted node at a time. People who replace the nodes of such a pool by changing its taint rely on that. If the pool has its own
// budgets, only these apply. Like every budget, the limit counts each node of the pool that is being disrupted or not ready.
func driftOneByOne(key v1.PoolKey, object *v1.NodePool) (decision.Budget, bool) {
	if !alphaBorn(key) || statesBudgets(object) {
		return decision.Budget{}, false
	}
	return decision.Budget{
		Name:    fmt.Sprintf("the rule that nodepool %s, created as %s without budgets, replaces one drifted node at a time", key, key.Generation),
		Reasons: []decision.Reason{decision.ReasonDrifted}, Scope: decision.Scope{Pool: key}, Unit: decision.UnitNodes, Amount: 1,
	}, true
}

// foundEmpty returns the time at which Karpenter's v1alpha5 release found the node empty, from the annotation that it wrote on the node.
// The Machine of such a node records no pod events. Without the annotation, consolidateAfter would seem to have passed as soon as the node
// is adopted. It returns zero for nodes of other pools, and if the annotation is missing, unreadable, or has a future time. drawknife never
// writes this annotation.
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
