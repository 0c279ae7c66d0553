package convert

import (
	"strings"
	"testing"
)

// API-022, API-094 (S3-071): whichever requirement speaks of machines keeps the defaults for category and generation away, and only
// these.
func TestDefaultRequirementsOfFamilies(t *testing.T) {
	for _, key := range []string{
		"node.kubernetes.io/instance-type", "karpenter.k8s.aws/instance-family", "karpenter.k8s.aws/instance-category", "karpenter.k8s.aws/instance-generation",
		"beta.kubernetes.io/instance-type", "example.com/team",
	} {
		manifest := "apiVersion: karpenter.sh/v1alpha5\nkind: Provisioner\nmetadata: {name: a}\nspec:\n  providerRef: {name: a}\n" +
			"  requirements: [{key: " + key + ", operator: In, values: [\"5\"]}]\n"
		out := written(t, rewrite(t, manifest, Options{}))
		for _, added := range []string{"kubernetes.io/os", "kubernetes.io/arch", "karpenter.sh/capacity-type"} {
			if !strings.Contains(out, "key: "+added+"\n") {
				t.Errorf("%s: no default for %s:\n%s", key, added, out)
			}
		}
		for _, instance := range []string{"karpenter.k8s.aws/instance-category", "karpenter.k8s.aws/instance-generation"} {
			want := key == instance || key == "example.com/team"
			if got := strings.Contains(out, "key: "+instance+"\n"); got != want {
				t.Errorf("%s: %s there: %v, want %v:\n%s", key, instance, got, want, out)
			}
		}
	}
}
