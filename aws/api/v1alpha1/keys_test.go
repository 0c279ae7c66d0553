package v1alpha1

import "testing"

// API-231, API-248, API-278, API-302: names that users and running clusters hold on to. Changing one breaks them.
func TestKeys(t *testing.T) {
	for got, want := range map[string]string{
		AnnotationHash:                        "karpenter.k8s.aws/nodetemplate-hash",
		InterruptionFinalizer:                 "karpenter.k8s.aws/interruption-infrastructure",
		LabelInstancePods:                     "karpenter.k8s.aws/instance-pods",
		LabelInstanceAcceleratorMemory:        "karpenter.k8s.aws/instance-accelerator-memory",
		NodeRolePlaceholder:                   "$KARPENTER_NODE_ROLE",
		APIVersion:                            "karpenter.k8s.aws/v1alpha1",
		SelectorIDs + " " + SelectorName:      "aws::ids aws::name",
		SelectorOldIDs + " " + SelectorOwners: "aws-ids aws::owners",
	} {
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
