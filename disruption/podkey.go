package disruption

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/scheduling"
)

func keyOf(pod *corev1.Pod) scheduling.PodKey {
	return scheduling.PodKey{Namespace: pod.Namespace, Name: pod.Name}
}
