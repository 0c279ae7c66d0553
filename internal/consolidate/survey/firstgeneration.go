package survey

import (
	"fmt"
	"time"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/api/v1alpha5"
	"github.com/drawknife/drawknife/disruption/decision"
	"github.com/drawknife/drawknife/scheduling/cluster"
)

// alphaBorn reports whether the pool was created in API version v1alpha5, as a Provisioner.
func alphaBorn(key v1.PoolKey) bool { return key.Generation == v1.GenerationV1Alpha5 }

// statesBudgets reports whether somebody has set the pool's budgets, so that they differ from the default. A Provisioner has no field for
// budgets. They can only be set on the NodePool that the Provisioner is converted to.
func statesBudgets(object *v1.NodePool) bool {
	list := object.Spec.Disruption.Budgets
	byDefault := len(list) == 1 && list[0].Reasons == nil && list[0].Schedule == nil && list[0].Duration == nil &&
		(list[0].Nodes == "" || list[0].Nodes == v1.DefaultBudgetNodes)
	return list != nil && !byDefault
}

// driftOneByOne returns the limit on drift for a pool created as v1alpha5. Karpenter's releases with v1alpha5 had no budgets and replaced
// one drifted node at a time. People who replace the nodes of such a pool by changing its taint rely on this limit. If somebody has set the
// pool's budgets, this limit does not apply. Like every budget, the limit counts each node of the pool that is being disrupted or not
// ready.
func driftOneByOne(key v1.PoolKey, object *v1.NodePool) (decision.Budget, bool) {
	if !alphaBorn(key) || statesBudgets(object) {
		return decision.Budget{}, false
	}
	return decision.Budget{
		Name:    fmt.Sprintf("the rule that nodepool %s, created as %s without budgets, replaces one drifted node at a time", key, key.Generation),
		Reasons: []decision.Reason{decision.ReasonDrifted}, Scope: decision.Scope{Pool: key}, Unit: decision.UnitNodes, Amount: 1,
	}, true
}

// foundEmpty returns the time at which a v1alpha5 release of Karpenter found the node empty. That release wrote the time to an annotation
// of the node. The Machine of such a node does not record the last pod event. So without this time, consolidateAfter would seem to have
// passed as soon as drawknife adopts the node. foundEmpty returns zero for nodes of other pools. It also returns zero if the annotation is
// missing, is unreadable, or has a future time. drawknife never writes this annotation.
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
