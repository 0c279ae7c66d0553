package v1

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/drawknife/drawknife/api/conditions"
)

// Condition returns a condition of the request. One that was never written is Unknown since the request was created.
func (r *ProvisioningRequest) Condition(conditionType string) metav1.Condition {
	return conditions.Of(&r.ObjectMeta, &r.Status.Conditions).Get(conditionType)
}

// Is reports whether the condition is True.
func (r *ProvisioningRequest) Is(conditionType string) bool {
	return r.Condition(conditionType).Status == metav1.ConditionTrue
}

// SetCondition writes a condition as of now and reports whether that changed anything. The time of transition moves only when the
// status changes; the observed generation becomes the request's.
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

// Outcome is the condition that says most of the request: of those that are known, the one that comes last in its life. It is
// ConditionAccepted, Unknown, while none is.
func (r *ProvisioningRequest) Outcome() metav1.Condition {
	for _, conditionType := range []string{ConditionFailed, ConditionCapacityRevoked, ConditionBookingExpired, ConditionProvisioned} {
		if c := r.Condition(conditionType); c.Status != metav1.ConditionUnknown {
			return c
		}
	}
	return r.Condition(ConditionAccepted)
}

// Done reports whether the request is over: it has failed, its booking has expired, or it was revoked. Nothing is booked for it any more.
func (r *ProvisioningRequest) Done() bool {
	return r.Is(ConditionFailed) || r.Is(ConditionBookingExpired) || r.Is(ConditionCapacityRevoked)
}

// Booked reports whether room is booked for the request.
func (r *ProvisioningRequest) Booked() bool { return r.Is(ConditionProvisioned) && !r.Done() }

// ConsumedBy is the name of the request, in the pod's namespace, whose room the pod uses; empty for a pod that uses none.
func ConsumedBy(pod *corev1.Pod) string {
	if pod == nil {
		return ""
	}
	if name := pod.Annotations[ConsumeAnnotationKey]; name != "" {
		return name
	}
	return pod.Annotations[ConsumeAnnotationKeyOld]
}
