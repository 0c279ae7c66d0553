package nodeclass_test

import (
	"fmt"

	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/internal/nodeclass"
)

// What is wrong with a class is told without asking AWS.
func ExampleFaults() {
	role := "nodes"
	class := &awsv1.EC2NodeClass{}
	class.Name = "default"
	class.Spec = awsv1.EC2NodeClassSpec{
		AMISelectorTerms:           []awsv1.AMISelectorTerm{{Alias: "al2023@latest"}},
		SubnetSelectorTerms:        []awsv1.SubnetSelectorTerm{{ID: "subnet-0123456789abcdef0"}},
		SecurityGroupSelectorTerms: []awsv1.SecurityGroupSelectorTerm{{Name: "nodes"}},
		Role:                       &role,
		Tags:                       map[string]string{"karpenter.sh/nodepool": "mine"},
	}
	for _, fault := range nodeclass.Faults(class, awsv1.Features{}) {
		fmt.Printf("%s: %s\n", fault.Reason, fault.Message)
	}
	// Output:
	// TagValidationFailed: spec.tags[karpenter.sh/nodepool]: Forbidden: is set on every instance to identify its owner: remove it
}
