// Package pods answers, for one pod and a point in time, what a node autoscaler asks about it: does it wait for a
// place, must it find a new one when its node goes, may it be evicted now, which disruption budgets stand in the way, and
// what is its eviction worth.
//
//	budgets, err := pods.NewBudgets(snapshot.PodDisruptionBudgets)
//	if err != nil {
//		return err // *BudgetError: which budget, which field
//	}
//	for _, pod := range node.Pods {
//		if pods.ReschedulableNow(pod, budgets, snapshot.Time) {
//			displaced = append(displaced, pod)
//		}
//	}
//
// All of it is pure: no clock but the argument, no API server. The words mean:
//
//	Terminal        it has ended (phase Succeeded or Failed)
//	Terminating     it is being deleted
//	Active          neither
//	Provisionable   it waits for a node that is not there yet
//	Protected       its do-not-disrupt annotation holds now
//	Evictable       it may be asked to go, budgets aside
//	Reschedulable   it, or its successor, will need another place when its node goes
//	Drainable       a drain waits for it
//
// Stability: beta.
package pods
