package v1

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/drawknife/drawknife/api/conditions"
)

// Condition returns a condition of the request. A condition that was never written is Unknown, with the creation of the request as its
// transition time.
func (r *ProvisioningRequest) Condition(conditionType string) metav1.Condition {
	return conditions.Of(&r.ObjectMeta, &r.Status.Conditions).Get(conditionType)
}

// Is reports whether the condition is True.
func (r *ProvisioningRequest) Is(conditionType string) bool {
	return r.Condition(conditionType).Status == metav1.ConditionTrue
}

// SetCondition writes a condition with the current time and reports whether that changed anything. The transition time changes only if the
// status changes. The observed generation becomes the request's generation.
func (r *ProvisioningRequest) SetCondition(conditionType string, status metav1.ConditionStatus, reason, message string, now time.Time) bool {
	next := metav1.Condition{
		Type: conditionType, Status: status, Reason: reason, Message: message,
		LastTransitionTime: metav1.NewTime(now), ObservedGeneration: r.Generation,
	}
	for i := range r.Status.Conditions {
		have := &r.Status.Conditions[i]
		if have.Type != conditionType {
			continue
		}
		if have.Status == status {
			next.LastTransitionTime = have.LastTransitionTime
		}
		changed := *have != next
		*have = next
		return changed
	}
	r.Status.Conditions = append(r.Status.Conditions, next)
	return true
}

// Outcome returns the condition that describes the request best: the known condition that comes last in the life of a request. While no
// condition is known, Outcome returns ConditionAccepted with status Unknown.
func (r *ProvisioningRequest) Outcome() metav1.Condition {
	for _, conditionType := range []string{ConditionFailed, ConditionCapacityRevoked, ConditionBookingExpired, ConditionProvisioned} {
		if c := r.Condition(conditionType); c.Status != metav1.ConditionUnknown {
			return c
		}
	}
	return r.Condition(ConditionAccepted)
}

// Done reports whether the request has ended: it has failed, its booking has expired, or it was revoked. No room is booked for a request
// that has ended.
func (r *ProvisioningRequest) Done() bool {
	return r.Is(ConditionFailed) || r.Is(ConditionBookingExpired) || r.Is(ConditionCapacityRevoked)
}

// Booked reports whether room is booked for the request.
func (r *ProvisioningRequest) Booked() bool { return r.Is(ConditionProvisioned) && !r.Done() }

// ConsumedBy returns the name of the request that has booked the room that the pod uses, in the pod's namespace. The name is empty if the
// pod uses no booked room.
func ConsumedBy(pod *corev1.Pod) string {
	if pod == nil {
		return ""
	}
	if name := pod.Annotations[ConsumeAnnotationKey]; name != "" {
		return name
	}
	return pod.Annotations[ConsumeAnnotationKeyOld]
}
