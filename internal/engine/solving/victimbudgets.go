package solving

import (
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/drawknife/drawknife/internal/engine/existing"
)

// victimBudget is a PodDisruptionBudget as kube-scheduler's DefaultPreemption interprets it. Unlike code that evicts pods, it ignores a
// budget whose selector is empty or can't be parsed, and allows the eviction of a pod that the budget lists as disrupted already.
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

// byBudget divides the bound pods in the parameter list into two lists. If all these pods were evicted one after another, the budgets would
// forbid the eviction of the pods in the result violating.
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
