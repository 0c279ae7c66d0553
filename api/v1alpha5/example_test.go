package v1alpha5_test

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/drawknife/drawknife/api/v1alpha5"
)

// A Provisioner of 0.27 becomes a NodePool of v1, and what that changes is said.
func ExampleProvisioner_ToV1() {
	manifest := []byte(`
apiVersion: karpenter.sh/v1alpha5
kind: Provisioner
metadata:
  name: default
spec:
  requirements:
  - {key: karpenter.sh/capacity-type, operator: In, values: [spot]}
  ttlSecondsAfterEmpty: 30
  providerRef: {name: default}
`)
	var old v1alpha5.Provisioner
	if err := yaml.UnmarshalStrict(manifest, &old); err != nil {
		fmt.Println(err)
		return
	}
	pool, warnings := old.ToV1(v1alpha5.ConvertOptions{
		Defaults:     v1alpha5.DefaultRequirements(),
		NodeTemplate: schema.GroupVersionKind{Group: "karpenter.k8s.aws", Version: "v1alpha1", Kind: "AWSNodeTemplate"},
		NodeClass:    schema.GroupVersionKind{Group: "karpenter.k8s.aws", Version: "v1beta1", Kind: "EC2NodeClass"},
	})
	for _, w := range warnings {
		fmt.Println(w)
	}
	if warnings.Err() != nil {
		return
	}
	fmt.Println(pool.Spec.Disruption.ConsolidationPolicy, pool.Spec.Disruption.ConsolidateAfter, pool.Spec.Template.Spec.ExpireAfter)
	// Output:
	// INFO W101 Provisioner/default spec.requirements: added default requirement(s) kubernetes.io/os In [linux], kubernetes.io/arch In [amd64] that the alpha webhook used to supply; pass ignore-defaults to leave them out
	// INFO W115 Provisioner/default spec.ttlSecondsUntilExpired: nodes did not expire; written as expireAfter Never
	// INFO W116 Provisioner/default spec: a default disruption budget of 10% will apply
	// INFO W505 NodePool/default spec.template.spec.nodeClassRef: nodeClassRef completed to karpenter.k8s.aws/EC2NodeClass
	// WhenEmpty 30s Never
}
