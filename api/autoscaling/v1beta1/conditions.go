package v1beta1

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Condition returns a condition of the buffer. A condition that was never written is Unknown, with the creation of the buffer as its
// transition time.
func (b *CapacityBuffer) Condition(conditionType string) metav1.Condition {
	if i := b.indexOf(conditionType); i >= 0 {
		return b.Status.Conditions[i]
	}
	return metav1.Condition{
		Type: conditionType, Status: metav1.ConditionUnknown, Reason: ReasonAwaitingReconciliation,
		LastTransitionTime: b.CreationTimestamp, ObservedGeneration: b.Generation,
	}
}

// SetCondition writes a condition with the current time and reports whether that changed anything. The transition time changes only if the
// status changes. The observed generation becomes the buffer's generation.
func (b *CapacityBuffer) SetCondition(conditionType string, status metav1.ConditionStatus, reason, message string, now time.Time) bool {
	next := metav1.Condition{
		Type: conditionType, Status: status, Reason: reason, Message: message,
		LastTransitionTime: metav1.NewTime(now), ObservedGeneration: b.Generation,
	}
	i := b.indexOf(conditionType)
	if i < 0 {
		b.Status.Conditions = append(b.Status.Conditions, next)
		return true
	}
	have := &b.Status.Conditions[i]
	if have.Status == status {
		next.LastTransitionTime = have.LastTransitionTime
	}
	if *have == next {
		return false
	}
	*have = next
	return true
}

func (b *CapacityBuffer) indexOf(conditionType string) int {
	return slices.IndexFunc(b.Status.Conditions, func(c metav1.Condition) bool { return c.Type == conditionType })
}
