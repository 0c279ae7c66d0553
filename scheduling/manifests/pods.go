package manifests

import (
	"errors"
	"slices"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/scheduling/pods"
)

// placePods divides the pods into bound pods and pending pods. Manifests have no conditions, so an unbound pod that is not being deleted is
// pending if nothing prevents its scheduling. All other rules are the rules of pods.Provisionable.
func (l *loader) placePods(nodes []joinedNode) (pending []*corev1.Pod) {
	index := make(map[string]*joinedNode, len(nodes))
	for i := range nodes {
		if nodes[i].node.Object != nil {
			index[nodes[i].node.Name] = &nodes[i]
		}
	}
	pending = make([]*corev1.Pod, 0, len(l.objects.pods))
	for _, e := range l.objects.pods {
		pod := e.object
		switch {
		case pods.Terminal(pod):
		case pod.Spec.NodeName != "":
			m := index[pod.Spec.NodeName]
			if m == nil {
				l.warn(e.origin, remark{
					code: WarningUnknownNode, kind: "Pod", name: qualifiedName(pod), path: "spec.nodeName",
					message: "the pod is bound to node " + pod.Spec.NodeName + ", which is not in the input; the pod is left out",
				})
				continue
			}
			m.node.Pods = append(m.node.Pods, pod)
		case l.awaitsPlace(e):
			pending = append(pending, pod)
		}
	}
	for i := range nodes {
		slices.SortFunc(nodes[i].node.Pods, comparePods)
	}
	pending = append(pending, l.displaced(nodes)...)
	slices.SortFunc(pending, comparePods)
	return pending
}

func comparePods(a, b *corev1.Pod) int { return compareNames(a, b) }

// awaitsPlace reports whether an unbound pod must be scheduled. It adds a warning if the reason for not scheduling it might be surprising.
func (l *loader) awaitsPlace(e entry[*corev1.Pod]) bool {
	pod := e.object
	switch {
	case pod.DeletionTimestamp != nil, pods.OwnedByDaemonSet(pod), pods.Static(pod):
		return false
	case len(pod.Spec.SchedulingGates) > 0:
		l.warn(e.origin, remark{
			code: WarningGated, kind: "Pod", name: qualifiedName(pod), path: "spec.schedulingGates",
			message: "the pod waits behind scheduling gates and is left out",
		})
		return false
	case pod.Status.NominatedNodeName != "":
		l.warn(e.origin, remark{
			code: WarningNominated, kind: "Pod", name: qualifiedName(pod), path: "status.nominatedNodeName",
			message: "the pod has been promised a place on node " + pod.Status.NominatedNodeName + " and is planned there, if it has room",
		})
	}
	return true
}

// displaced removes the pods that must move to other nodes from nodes that are leaving. It returns copies of these pods that are not bound
// to a node.
func (l *loader) displaced(nodes []joinedNode) []*corev1.Pod {
	var budgets *pods.Budgets
	var list []*corev1.Pod
	for i := range nodes {
		n := &nodes[i].node
		if !n.Leaving || len(n.Pods) == 0 {
			continue
		}
		if budgets == nil {
			var err error
			if budgets, err = pods.NewBudgets(listOf(l.objects.podDisruptionBudgets)); err != nil {
				return nil // never happens: validateBudgets has refused such input
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
