package generations

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
)

// API-011, API-262: events of objects whose name says that they are of the first generation are told on what is stored, under its own
// kind and name; those of later objects stay as they are.
func TestEventsNameWhatIsStored(t *testing.T) {
	for _, c := range []struct{ about, want corev1.ObjectReference }{
		{
			corev1.ObjectReference{APIVersion: "karpenter.sh/v1", Kind: "NodePool", Name: "v1alpha5/web"},
			corev1.ObjectReference{APIVersion: "karpenter.sh/v1alpha5", Kind: "Provisioner", Name: "web"},
		},
		{
			corev1.ObjectReference{APIVersion: "karpenter.sh/v1", Kind: "NodeClaim", Name: "v1alpha5/web-1"},
			corev1.ObjectReference{APIVersion: "karpenter.sh/v1alpha5", Kind: "Machine", Name: "web-1"},
		},
		{
			corev1.ObjectReference{APIVersion: "karpenter.sh/v1", Kind: "NodePool", Name: "web"},
			corev1.ObjectReference{APIVersion: "karpenter.sh/v1", Kind: "NodePool", Name: "web"},
		},
	} {
		if diff := cmp.Diff(&c.want, (&teller{}).stored(&c.about)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.about.Name, diff)
		}
	}
}
