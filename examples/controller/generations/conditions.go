package generations

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/drawknife/drawknife/api/v1alpha5"
	"github.com/drawknife/drawknife/api/v1beta1"
)

// observed sets a missing observedGeneration of conditions to the object's present generation: early CRDs drop this field. The condition's
// writer checks the object again within seconds.
func observed(conditions []metav1.Condition, generation int64) []metav1.Condition {
	for i := range conditions {
		if conditions[i].ObservedGeneration == 0 {
			conditions[i].ObservedGeneration = generation
		}
	}
	return conditions
}

// conditionsOfPool returns a Provisioner's conditions without Active, which summarizes them.
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

// conditionsOfProvisioner returns the conditions of the pool, together with the condition Active of stored.
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
