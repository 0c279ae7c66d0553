package v1alpha1_test

import (
	"fmt"

	"sigs.k8s.io/yaml"

	"github.com/drawknife/drawknife/aws/api/v1alpha1"
)

// A node template of 0.27 becomes a node class of v1, and what that changes is said.
func ExampleAWSNodeTemplate_ToV1() {
	manifest := []byte(`
apiVersion: karpenter.k8s.aws/v1alpha1
kind: AWSNodeTemplate
metadata:
  name: default
spec:
  amiFamily: Bottlerocket
  subnetSelector: {karpenter.sh/discovery: demo}
  securityGroupSelector: {aws-ids: "sg-1, sg-2"}
`)
	var old v1alpha1.AWSNodeTemplate
	if err := yaml.UnmarshalStrict(manifest, &old); err != nil {
		fmt.Println(err)
		return
	}
	class, warnings := old.ToV1(v1alpha1.ConvertOptions{})
	for _, w := range warnings {
		fmt.Println(w)
	}
	if warnings.Err() != nil {
		return
	}
	fmt.Println(class.Spec.AMISelectorTerms[0].Alias, *class.Spec.Role, class.Spec.SecurityGroupSelectorTerms[1].ID)
	// Output:
	// WARN W203 AWSNodeTemplate/default spec.instanceProfile: role set to $KARPENTER_NODE_ROLE; replace it with the role behind instance profile (that of the global settings)
	// INFO W514 EC2NodeClass/default spec.metadataOptions.httpPutResponseHopLimit: httpPutResponseHopLimit 2 kept; new objects default to 1
	// INFO W510 EC2NodeClass/default spec.amiFamily: image selection expressed as alias bottlerocket@latest
	// INFO W515 EC2NodeClass/default spec.associatePublicIPAddress: public address assignment is no longer forced off in private subnets
	// bottlerocket@latest $KARPENTER_NODE_ROLE sg-2
}
