package conditions

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Complete gives conditions without a reason one, which is their type, and reports whether there were any. Karpenter up to
// 0.36 wrote such; definitions of other releases refuse objects that have one.
func Complete(list []metav1.Condition) bool {
	changed := false
	for i := range list {
		if list[i].Reason == "" {
			list[i].Reason, changed = list[i].Type, true
		}
	}
	return changed
}

// Observe has conditions that don't say of which generation of their object they speak be of the present one, and reports whether
// there were any. Releases that left the reason out left that out, too; what Ready depends on would count as Unknown forever,
// since a condition that does not change is not written again.
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
