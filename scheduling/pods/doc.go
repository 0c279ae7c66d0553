// Package pods answers the questions of a node autoscaler about one pod at one point in time. Does the pod wait for a node? Does it need
// another node when its node is removed? May it be evicted now, and which PodDisruptionBudgets forbid the eviction? How much does its
// eviction cost?
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
// All functions are pure: the time is an argument, and nothing calls the API server. The words mean:
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
