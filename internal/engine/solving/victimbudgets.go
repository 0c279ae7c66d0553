package solving

import (
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/drawknife/drawknife/internal/engine/existing"
)

// victimBudget is a PodDisruptionBudget as kube-scheduler's DefaultPreemption reads it. Unlike those that evict, it passes over a budget
// whose selector can't be read or is empty, and lets a pod go that the budget says has been disrupted already.
type victimBudget struct {
	namespace string
	selector  labels.Selector
	allowed   int32
	disrupted map[string]metav1.Time
}

func newVictimBudgets(list []*policyv1.PodDisruptionBudget) []victimBudget {
	var out []victimBudget
	for _, b := range list {
		selector, err := metav1.LabelSelectorAsSelector(b.Spec.Selector)
		if err != nil || selector.Empty() {
			continue
		}
		out = append(out, victimBudget{b.Namespace, selector, b.Status.DisruptionsAllowed, b.Status.DisruptedPods})
	}
	return out
}

// byBudget parts the bound pods of the list that budgets would keep from being evicted, if all were, from the others.
func byBudget(budgets []victimBudget, n *existing.Node, list []int) (violating, others []int) {
	spent := make([]int32, len(budgets))
	for _, k := range list {
		pod, breaks := n.Bound[k].Pod, false
		for i := range budgets {
			b := &budgets[i]
			if _, before := b.disrupted[pod.Name]; before || b.namespace != pod.Namespace || !b.selector.Matches(labels.Set(pod.Labels)) {
				continue
			}
			spent[i]++
			breaks = breaks || spent[i] > b.allowed
		}
		if breaks {
			violating = append(violating, k)
		} else {
			others = append(others, k)
		}
	}
	return violating, others
}
