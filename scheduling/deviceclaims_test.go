package scheduling_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// SCH-190 to SCH-194: a pod whose claims of devices name nothing, for all of it or for one container, has no place and is told why; others
// are planned as ever.
func TestPodsThatClaimDevices(t *testing.T) {
	const unnamed = `a container claims the devices of "gpu", which spec.resourceClaims does not name`
	for name, c := range map[string]struct {
		claim  podOption
		reason string
	}{
		"the pod": {func(p *corev1.Pod) { p.Spec.ResourceClaims = []corev1.PodResourceClaim{{Name: "gpu"}} },
			"its claim gpu of devices names neither a ResourceClaim nor a ResourceClaimTemplate"},
		"a container": {func(p *corev1.Pod) { p.Spec.Containers[0].Resources.Claims = []corev1.ResourceClaim{{Name: "gpu"}} }, unnamed},
		"an init container": {func(p *corev1.Pod) {
			p.Spec.InitContainers = []corev1.Container{{Name: "i", Resources: corev1.ResourceRequirements{Claims: []corev1.ResourceClaim{{Name: "gpu"}}}}}
		}, unnamed},
	} {
		t.Run(name, func(t *testing.T) {
			p := solve(t, cluster(pod("claims", requests("cpu=1"), c.claim), pod("other", requests("cpu=1"))))
			wantReason(t, p, "claims", "the pod can't be planned: "+c.reason)
			newNodeOf(t, p, "other")
		})
	}
}

// A pod whose status says that no claim was made from a template, since none was needed, needs no devices; one of the same template that says nothing does.
func TestClaimsThatAreNotNeeded(t *testing.T) {
	template := "gpu"
	claims := func(p *corev1.Pod) {
		p.Spec.ResourceClaims = []corev1.PodResourceClaim{{Name: "gpu", ResourceClaimTemplateName: &template}}
	}
	snapshot := cluster(pod("needs", requests("cpu=1"), claims), pod("needless", requests("cpu=1"), claims, func(p *corev1.Pod) {
		p.Status.ResourceClaimStatuses = []corev1.PodResourceClaimStatus{{Name: "gpu"}}
	}))
	snapshot.DeviceClasses = []*resourcev1.DeviceClass{{ObjectMeta: metav1.ObjectMeta{Name: "gpu"}}}
	p := solve(t, snapshot)
	newNodeOf(t, p, "needless")
	wantReason(t, p, "needs", "the pod can't be planned: its claim gpu of devices is made of the ResourceClaimTemplate default/gpu, which does not exist")
}
