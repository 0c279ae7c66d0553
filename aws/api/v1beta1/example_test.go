package v1beta1_test

import (
	"fmt"

	"sigs.k8s.io/yaml"

	"github.com/drawknife/drawknife/aws/api/v1beta1"
)

// A manifest of 0.37 becomes one of v1, and what that changes is said.
func ExampleEC2NodeClass_ToV1() {
	manifest := []byte(`
apiVersion: karpenter.k8s.aws/v1beta1
kind: EC2NodeClass
metadata:
  name: default
spec:
  amiFamily: Bottlerocket
  role: KarpenterNodeRole
  subnetSelectorTerms:
  - tags: {karpenter.sh/discovery: my-cluster}
  securityGroupSelectorTerms:
  - tags: {karpenter.sh/discovery: my-cluster}
`)
	var old v1beta1.EC2NodeClass
	if err := yaml.UnmarshalStrict(manifest, &old); err != nil {
		fmt.Println(err)
		return
	}
	class, warnings := old.ToV1(v1beta1.ConvertOptions{})
	for _, w := range warnings {
		fmt.Println(w)
	}
	if warnings.Err() != nil {
		return
	}
	fmt.Println(class.Spec.AMISelectorTerms[0].Alias)
	// Output:
	// INFO W514 EC2NodeClass/default spec.metadataOptions.httpPutResponseHopLimit: httpPutResponseHopLimit 2 kept; new objects default to 1
	// INFO W510 EC2NodeClass/default spec.amiFamily: image selection expressed as alias bottlerocket@latest
	// INFO W515 EC2NodeClass/default spec.associatePublicIPAddress: public address assignment is no longer forced off in private subnets
	// bottlerocket@latest
}
