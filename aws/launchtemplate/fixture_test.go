package launchtemplate

import (
	"strconv"
	"testing"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/fake/build"
	"github.com/drawknife/drawknife/fake/build/ec2build"
)

func ptr[T any](v T) *T { return &v }

// instanceType is a type with one offering of each capacity type that every launch can use.
func instanceType(name, arch string, pods int64, changes ...func(*cloudprovider.InstanceType)) *cloudprovider.InstanceType {
	t := build.InstanceType(name, build.MaxPods(pods), build.OnDemand("us-east-1a", 1), build.Spot("us-east-1a", 1), build.With(
		requirements.In(corev1.LabelArchStable, arch),
		requirements.DoesNotExist(awsv1.LabelInstanceGPUCount),
		requirements.DoesNotExist(awsv1.LabelInstanceAcceleratorCount),
	))
	for _, change := range changes {
		change(t)
	}
	return t
}

func gpus(n string) func(*cloudprovider.InstanceType) {
	return func(t *cloudprovider.InstanceType) {
		t.Requirements = t.Requirements.Without(awsv1.LabelInstanceGPUCount).With(requirements.In(awsv1.LabelInstanceGPUCount, n))
	}
}

func efas(n int64) func(*cloudprovider.InstanceType) {
	return func(t *cloudprovider.InstanceType) {
		t.Capacity[ResourceEFA] = *resource.NewQuantity(n, resource.DecimalSI)
	}
}

// reserved adds a reserved offering with room for so many instances.
func reserved(id string, kind awsv1.CapacityReservationType, interruptible bool, room int) func(*cloudprovider.InstanceType) {
	return func(t *cloudprovider.InstanceType) {
		t.Offerings = append(t.Offerings, cloudprovider.Offering{
			Requirements: requirements.FromLabels(map[string]string{
				corev1.LabelTopologyZone:                    "us-east-1a",
				v1.CapacityTypeLabelKey:                     v1.CapacityTypeReserved,
				awsv1.LabelCapacityReservationID:            id,
				awsv1.LabelCapacityReservationType:          string(kind),
				awsv1.LabelCapacityReservationInterruptible: strconv.FormatBool(interruptible),
			}),
			Available: true, ReservationCapacity: room,
		})
	}
}

func ami(id, name string, want ...corev1.NodeSelectorRequirement) awsv1.AMI {
	return awsv1.AMI{ID: id, Name: name, Requirements: want}
}

func in(key string, values ...string) corev1.NodeSelectorRequirement {
	return corev1.NodeSelectorRequirement{Key: key, Operator: corev1.NodeSelectorOpIn, Values: values}
}

func absent(key string) corev1.NodeSelectorRequirement {
	return corev1.NodeSelectorRequirement{Key: key, Operator: corev1.NodeSelectorOpDoesNotExist}
}

func exists(key string) corev1.NodeSelectorRequirement {
	return corev1.NodeSelectorRequirement{Key: key, Operator: corev1.NodeSelectorOpExists}
}

// demoClass is an AL2023 class that was resolved: standard images for both architectures and one for GPUs.
func demoClass(changes ...func(*awsv1.EC2NodeClass)) *awsv1.EC2NodeClass {
	c := ec2build.Class("std", ec2build.SecurityGroups("sg-b", "sg-a"), ec2build.Subnet("subnet-a", "us-east-1a", ""), ec2build.Profile("demo_1"))
	c.Spec.Role = ptr("node")
	c.Status.AMIs = []awsv1.AMI{
		ami("ami-gpu", "al2023-nvidia", in(corev1.LabelArchStable, "amd64"), exists(awsv1.LabelInstanceGPUCount)),
		ami("ami-amd64", "al2023-x86_64", in(corev1.LabelArchStable, "amd64"), absent(awsv1.LabelInstanceGPUCount), absent(awsv1.LabelInstanceAcceleratorCount)),
		ami("ami-arm64", "al2023-arm64", in(corev1.LabelArchStable, "arm64"), absent(awsv1.LabelInstanceGPUCount), absent(awsv1.LabelInstanceAcceleratorCount)),
	}
	for _, change := range changes {
		change(c)
	}
	return c
}

// family makes the class one of another family, whose image boots on anything.
func family(f awsv1.AMIFamily, name string) func(*awsv1.EC2NodeClass) {
	return func(c *awsv1.EC2NodeClass) {
		c.Spec.AMIFamily, c.Spec.AMISelectorTerms = f, []awsv1.AMISelectorTerm{{ID: "ami-own"}}
		c.Status.AMIs = []awsv1.AMI{ami("ami-own", name)}
	}
}

func demoClaim() *v1.NodeClaim {
	return build.Claim("blue-1", build.OfPool("blue"), build.Labels("team", "infra", "karpenter.k8s.aws/ec2nodeclass", "std"), build.Taints("dedicated=batch"))
}

func demoCluster() Cluster {
	return Cluster{
		Name: "demo", Endpoint: "https://api.demo.example", CABundle: "QUJDRA==", ServiceCIDR: "172.20.0.0/16",
		DNS: "172.20.0.10", Region: "us-east-1",
	}
}

// demo is a request for a spot instance of one of two sizes.
func demo(changes ...func(*Request)) Request {
	r := Request{
		Cluster:       demoCluster(),
		NodeClass:     demoClass(),
		NodeClaim:     demoClaim(),
		InstanceTypes: []*cloudprovider.InstanceType{instanceType("m5.large", "amd64", 29), instanceType("c5.large", "amd64", 29)},
		CapacityType:  v1.CapacityTypeSpot,
	}
	for _, change := range changes {
		change(&r)
	}
	return r
}

func class(changes ...func(*awsv1.EC2NodeClass)) func(*Request) {
	return func(r *Request) {
		for _, change := range changes {
			change(r.NodeClass)
		}
	}
}

func types(list ...*cloudprovider.InstanceType) func(*Request) {
	return func(r *Request) { r.InstanceTypes = list }
}

func requests(name corev1.ResourceName) func(*Request) {
	return func(r *Request) {
		r.NodeClaim.Spec.Resources.Requests = corev1.ResourceList{name: resource.MustParse("1")}
	}
}

// drivers are those that the claim was planned with.
func drivers(list string) func(*Request) {
	return func(r *Request) {
		r.NodeClaim.Annotations = map[string]string{v1.RequestedDRADriversAnnotationKey: list}
	}
}

func efaAttributes() map[resourcev1.QualifiedName]resourcev1.DeviceAttribute {
	name := "Elastic Fabric Adapter (EFA)"
	return map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{"dra.net/pciDevice": {StringValue: &name}}
}

func asks(key string, values ...string) func(*Request) {
	return func(r *Request) {
		r.NodeClaim.Spec.Requirements = append(r.NodeClaim.Spec.Requirements, v1.NodeSelectorRequirementWithMinValues{
			Key: key, Operator: corev1.NodeSelectorOpIn, Values: values,
		})
	}
}

func capacityType(text string) func(*Request) { return func(r *Request) { r.CapacityType = text } }

func mustBuild(t *testing.T, r Request) Result {
	t.Helper()
	result, err := Build(r)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// one builds a request that has a single template.
func one(t *testing.T, r Request) Template {
	t.Helper()
	result := mustBuild(t, r)
	if len(result.Templates) != 1 {
		t.Fatalf("%d templates: %v", len(result.Templates), result.Templates)
	}
	return result.Templates[0]
}

func tagMap(t Template) map[string]string {
	tags := map[string]string{}
	for _, tag := range t.Tags {
		tags[*tag.Key] = *tag.Value
	}
	return tags
}
