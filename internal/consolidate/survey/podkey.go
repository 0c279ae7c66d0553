package survey

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/disruption/decision"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// KeyOf returns the pod's key.
func KeyOf(pod *corev1.Pod) planning.PodKey {
	return planning.PodKey{Namespace: pod.Namespace, Name: pod.Name}
}

// AddOwners adds the pod's owners to the member.
func AddOwners(m *decision.Member, pod *corev1.Pod) {
	for i := range pod.OwnerReferences {
		if uid := pod.OwnerReferences[i].UID; !slices.Contains(m.Owners, uid) {
			m.Owners = append(m.Owners, uid)
		}
	}
}
