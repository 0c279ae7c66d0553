package launchtemplate_test

import (
	"fmt"
	"log"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/catalog"
	"github.com/drawknife/drawknife/aws/instancetype"
	"github.com/drawknife/drawknife/aws/launchtemplate"
	"github.com/drawknife/drawknife/cloudprovider"
)

// The templates of a claim that may become one of three real types: two of them take the same number of pods and share
// a template.
func ExampleBuild() {
	class := &awsv1.EC2NodeClass{ObjectMeta: metav1.ObjectMeta{Name: "std"}}
	class.Spec.AMISelectorTerms = []awsv1.AMISelectorTerm{{Alias: "al2023@latest"}}
	class.Status.AMIs = []awsv1.AMI{{ID: "ami-0123456789abcdef0"}}
	class.Status.SecurityGroups = []awsv1.SecurityGroup{{ID: "sg-0123456789abcdef0"}}
	class.Status.InstanceProfile = "demo"

	facts, err := catalog.Embedded()
	if err != nil {
		log.Fatal(err)
	}
	types, err := instancetype.Resolve(facts, class, instancetype.Options{})
	if err != nil {
		log.Fatal(err)
	}
	result, err := launchtemplate.Build(launchtemplate.Request{
		Cluster:   launchtemplate.Cluster{Name: "demo", Endpoint: "https://api.demo.example", ServiceCIDR: "172.20.0.0/16"},
		NodeClass: class,
		InstanceTypes: slices.DeleteFunc(types, func(t *cloudprovider.InstanceType) bool {
			return !slices.Contains([]string{"m5.large", "c5.large", "m5.xlarge"}, t.Name)
		}),
		CapacityType: v1.CapacityTypeOnDemand,
	})
	if err != nil {
		log.Fatal(err)
	}
	for _, template := range result.Templates {
		fmt.Println(template.MaxPods, "pods:", template.InstanceTypes)
	}
	// Output:
	// 29 pods: [c5.large m5.large]
	// 58 pods: [m5.xlarge]
}
