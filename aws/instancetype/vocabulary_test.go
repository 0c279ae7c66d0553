package instancetype_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/instancetype"
)

func TestVocabulary(t *testing.T) {
	v := instancetype.Vocabulary()
	// AWI-008
	if got := v.Canonical("topology.ebs.csi.aws.com/zone"); got != corev1.LabelTopologyZone {
		t.Errorf("the EBS driver's zone is %q", got)
	}
	// AWI-059
	for _, key := range append(awsv1.WellKnownLabels(), instancetype.LabelInstanceGPUPartition, corev1.LabelInstanceTypeStable) {
		if !v.IsWellKnown(key) || v.Restricted(key) != "" {
			t.Errorf("%s is well known: %t, restricted: %q", key, v.IsWellKnown(key), v.Restricted(key))
		}
	}
	for _, key := range []string{"karpenter.k8s.aws/mine", "a.karpenter.k8s.aws/mine"} {
		if v.Restricted(key) == "" {
			t.Errorf("%s may be set", key)
		}
	}
	if why := v.Restricted("example.com/mine"); why != "" {
		t.Errorf("a user's own key may not be set: %s", why)
	}
}

// AWI-027: every type states every well-known label but the pool's.
func TestEveryLabelIsStatedForEveryType(t *testing.T) {
	for _, it := range resolve(t, embedded(t), instancetype.Settings{}) {
		for _, key := range instancetype.Vocabulary().WellKnown {
			if key != "karpenter.sh/nodepool" && !it.Requirements.Has(key) {
				t.Errorf("%s does not state %s", it.Name, key)
			}
		}
	}
}
