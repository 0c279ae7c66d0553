package manifests_test

import (
	"strings"
	"testing"

	"github.com/drawknife/drawknife/scheduling/manifests"
)

// Requirements of NodeClaims and NodeOverlays are judged as those of NodePools are: keys that nobody may set, operators without the
// values that they need.
func TestRequirementsOfClaimsAndOverlays(t *testing.T) {
	objects := map[string]string{
		"NodeClaim": "apiVersion: karpenter.sh/v1\nkind: NodeClaim\nmetadata: {name: a}\n" +
			"spec: {nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: a}, requirements: [THIS]}\n",
		"NodeOverlay": "apiVersion: karpenter.sh/v1alpha1\nkind: NodeOverlay\nmetadata: {name: a}\nspec: {price: \"1\", requirements: [THIS]}\n",
	}
	for kind, text := range objects {
		for requirement, want := range map[string]string{
			"{key: kubernetes.io/hostname, operator: In, values: [a]}":           "spec.requirements[0].key",
			"{key: kubernetes.io/arch, operator: In}":                            "spec.requirements[0].values",
			"{key: karpenter.k8s.aws/x, operator: Gt, values: [many]}":           "spec.requirements[0].values",
			"{key: kubernetes.io/arch, operator: Like, values: [a]}":             "spec.requirements[0].operator",
			"{key: kubernetes.io/arch, operator: In, values: [\"not a value\"]}": "spec.requirements[0].values",
		} {
			_, err := manifests.Load([]manifests.Source{{Name: "-", Data: []byte(strings.Replace(text, "THIS", requirement, 1))}}, manifests.Options{})
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s %s: %v", kind, requirement, err)
			}
		}
		good := strings.Replace(text, "THIS", "{key: kubernetes.io/arch, operator: In, values: [amd64]}", 1)
		if _, err := manifests.Load([]manifests.Source{{Name: "-", Data: []byte(good)}}, manifests.Options{}); err != nil {
			t.Errorf("%s: %v", kind, err)
		}
	}
}
