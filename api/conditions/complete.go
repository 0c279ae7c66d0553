package conditions

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Complete sets the reason of each condition without a reason to the condition's type, and reports whether it changed any. Karpenter up to
// 0.36 wrote conditions without a reason. The CustomResourceDefinitions of other releases refuse objects with a condition that has no
// reason.
func Complete(list []metav1.Condition) bool {
	changed := false
	for i := range list {
		if list[i].Reason == "" {
			list[i].Reason, changed = list[i].Type, true
		}
	}
	return changed
}

// Observe sets the observed generation of each condition that has none to the object's current generation, and reports whether it changed
// any. The releases that wrote no reason wrote no observed generation either. Without Observe, Ready would count conditions without an
// observed generation as Unknown forever, because a condition that does not change is not written again.
func Observe(list []metav1.Condition, generation int64) bool {
	changed := false
	for i := range list {
		if list[i].ObservedGeneration == 0 && generation != 0 {
			list[i].ObservedGeneration, changed = generation, true
		}
	}
	return changed
}

// Incomplete reports whether a condition has no reason.
func Incomplete(list []metav1.Condition) bool {
	return slices.ContainsFunc(list, func(c metav1.Condition) bool { return c.Reason == "" })
}
