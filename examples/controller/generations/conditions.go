package generations

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/drawknife/drawknife/api/v1alpha5"
	"github.com/drawknife/drawknife/api/v1beta1"
)

// observed fills in for which generation of its object a condition was written: early definitions drop it, so that it is taken to
// be the one that there is. Who writes it looks at the object again within seconds.
func observed(conditions []metav1.Condition, generation int64) []metav1.Condition {
	for i := range conditions {
		if conditions[i].ObservedGeneration == 0 {
			conditions[i].ObservedGeneration = generation
		}
	}
	return conditions
}

// conditionsOfPool are those of a Provisioner but Active, which says what became of them.
func conditionsOfPool(stored []v1beta1.Condition, generation int64) []metav1.Condition {
	var out []metav1.Condition
	for _, c := range stored {
		if c.Type == v1alpha5.ConditionActive {
			continue
		}
		if c.Reason == "" {
			c.Reason = c.Type
		}
		out = append(out, metav1.Condition{
			Type: c.Type, Status: c.Status, ObservedGeneration: c.ObservedGeneration, LastTransitionTime: c.LastTransitionTime, Reason: c.Reason, Message: c.Message,
		})
	}
	return observed(out, generation)
}

// conditionsOfProvisioner are those of a pool, and Active as it is stored.
func conditionsOfProvisioner(pool []metav1.Condition, stored []v1beta1.Condition) []v1beta1.Condition {
	var out []v1beta1.Condition
	for _, c := range stored {
		if c.Type == v1alpha5.ConditionActive {
			out = append(out, c)
		}
	}
	for _, c := range pool {
		out = append(out, v1beta1.Condition{
			Type: c.Type, Status: c.Status, ObservedGeneration: c.ObservedGeneration, LastTransitionTime: c.LastTransitionTime, Reason: c.Reason, Message: c.Message,
		})
	}
	return out
}
