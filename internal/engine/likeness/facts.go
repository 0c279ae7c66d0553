package likeness

import (
	"cmp"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Ended reports whether the pod has ended, so that it no longer uses resources.
func Ended(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

// UsesClaims reports whether the pod has volumes that depend on other objects.
func UsesClaims(pod *corev1.Pod) bool {
	for i := range pod.Spec.Volumes {
		v := &pod.Spec.Volumes[i]
		if v.ConfigMap == nil && v.Secret == nil && v.Projected == nil && v.EmptyDir == nil && v.DownwardAPI == nil && v.HostPath == nil {
			return true
		}
	}
	return false
}

// NominatedTo returns the node for which a pending pod is nominated, or "" if it is not nominated.
func NominatedTo(pod *corev1.Pod) string {
	if pod.Spec.NodeName != "" {
		return ""
	}
	return pod.Status.NominatedNodeName
}

// NeverPreempts reports whether pods with the spec wait instead of preempting others.
func NeverPreempts(spec *corev1.PodSpec) bool {
	return spec.PreemptionPolicy != nil && *spec.PreemptionPolicy == corev1.PreemptNever
}

// Compare compares pods that are otherwise equal: by age, then by namespace, then by name, with "web-2" before "web-10".
func Compare(a, b *corev1.Pod) int {
	return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.Namespace, b.Namespace),
		cmp.Compare(len(a.Name), len(b.Name)), cmp.Compare(a.Name, b.Name))
}

// static reports whether the pod belongs to its node and not to a workload.
func static(pod *corev1.Pod) bool {
	owner := metav1.GetControllerOf(pod)
	return owner != nil && owner.Kind == "Node" && owner.APIVersion == "v1"
}
