package scheduling_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// SCH-190 to SCH-194: a pod that claims devices through dynamic resource allocation, for all of it or for one container, has
// no place and is told why; others are planned as ever.
func TestPodsThatClaimDevices(t *testing.T) {
	const reason = "the pod can't be planned: it claims devices through dynamic resource allocation, which is not planned: " +
		"ask for an extended resource instead, or place it by hand"
	for name, claim := range map[string]podOption{
		"the pod":     func(p *corev1.Pod) { p.Spec.ResourceClaims = []corev1.PodResourceClaim{{Name: "gpu"}} },
		"a container": func(p *corev1.Pod) { p.Spec.Containers[0].Resources.Claims = []corev1.ResourceClaim{{Name: "gpu"}} },
		"an init container": func(p *corev1.Pod) {
			p.Spec.InitContainers = []corev1.Container{{Name: "i", Resources: corev1.ResourceRequirements{Claims: []corev1.ResourceClaim{{Name: "gpu"}}}}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := solve(t, cluster(pod("claims", requests("cpu=1"), claim), pod("other", requests("cpu=1"))))
			wantReason(t, p, "claims", reason)
			newNodeOf(t, p, "other")
		})
	}
}
