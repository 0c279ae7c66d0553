package interruption

import corev1 "k8s.io/api/core/v1"

// TerminatingOnInterruption is the reason of a warning event. Code that terminates an instance because of an interruption publishes this
// event about the instance's NodeClaim and Node.
const TerminatingOnInterruption = "TerminatingOnInterruption"

// KubernetesEvent returns the type and the reason of the event about an affected NodeClaim and its Node. Publish it first, for instance in
// Options.OnEvent. Both are empty for NoOp.
func (k Kind) KubernetesEvent() (eventType, reason string) {
	switch k {
	case SpotInterrupted:
		return corev1.EventTypeWarning, "SpotInterrupted"
	case RebalanceRecommendation:
		return corev1.EventTypeNormal, "SpotRebalanceRecommendation"
	case InstanceStopped:
		return corev1.EventTypeWarning, "InstanceStopping"
	case InstanceTerminated:
		return corev1.EventTypeWarning, "InstanceTerminating"
	case CapacityReservationInterrupted:
		return corev1.EventTypeWarning, "CapacityReservationInstanceInterrupted"
	case ScheduledChange, InstanceStatus, SystemStatus, EventStatus:
		return corev1.EventTypeWarning, "InstanceUnhealthy"
	}
	return "", ""
}
