package disruption

import (
	"fmt"

	v1 "github.com/drawknife/drawknife/api/v1"
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
// replaced one drifted node at a time, which who rolls such a pool by its taint relies on (API-410). Pools with budgets of
// their own go by these alone. Like any budget it counts every node of the pool that is being disrupted or not ready.
func driftOneByOne(key v1.PoolKey, object *v1.NodePool) (Budget, bool) {
	if !alphaBorn(key) || statesBudgets(object) {
		return Budget{}, false
	}
	return Budget{
		Name:    fmt.Sprintf("the rule that nodepool %s, born in %s without budgets, replaces one drifted node at a time", key, key.Generation),
		Reasons: []Reason{ReasonDrifted}, Scope: Scope{Pool: key}, Unit: UnitNodes, Amount: 1,
	}, true
}
