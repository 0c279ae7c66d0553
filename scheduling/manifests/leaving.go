package manifests

import (
	"errors"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/scheduling/pods"
)

// displaced takes the pods that will need a new place off the machines that are going away. They are replaced by copies that are not bound
// to a node.
func (l *loader) displaced(machines []machine) []*corev1.Pod {
	var budgets *pods.Budgets
	var list []*corev1.Pod
	for i := range machines {
		n := &machines[i].node
		if !n.Leaving || len(n.Pods) == 0 {
			continue
		}
		if budgets == nil {
			var err error
			if budgets, err = pods.NewBudgets(listOf(l.objects.podDisruptionBudgets)); err != nil {
				return nil // validateBudgets has refused the input
			}
		}
		var staying []*corev1.Pod
		marker := v1.MarkerOf(n.Pool)
		for _, pod := range n.Pods {
			if !pods.ReschedulableNowFrom(marker, pod, budgets, l.opts.Now) {
				staying = append(staying, pod)
				continue
			}
			list = append(list, pods.Unbound(pod))
		}
		n.Pods = staying
	}
	return list
}

// validateBudgets refuses a budget with an invalid selector, as the API server does.
func (l *loader) validateBudgets() {
	for _, e := range l.objects.podDisruptionBudgets {
		var fault *pods.BudgetError
		if _, err := pods.NewBudgets([]*policyv1.PodDisruptionBudget{e.object}); errors.As(err, &fault) {
			l.problem(e.origin, ProblemInvalid, "PodDisruptionBudget "+qualifiedName(e.object), fault.Field, fault.Err.Error())
		}
	}
}
