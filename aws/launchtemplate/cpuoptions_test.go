package launchtemplate_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/catalog"
	"github.com/drawknife/drawknife/aws/instancetype"
	"github.com/drawknife/drawknife/aws/launchtemplate"
	"github.com/drawknife/drawknife/cloudprovider"
)

// EC2 wants both numbers, so that types with different cores need templates of their own: each states the cores that its types were planned
// with.
func TestCPUOptions(t *testing.T) {
	facts, err := catalog.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	one, four := int32(1), int32(4)
	type cpus struct{ Cores, Threads int32 }
	for _, c := range []struct {
		name    string
		options *awsv1.CPUOptions
		want    map[string]*cpus // by instance type
	}{
		{"none", nil, map[string]*cpus{"m5.xlarge": nil, "m5.2xlarge": nil}},
		{"one thread", &awsv1.CPUOptions{ThreadsPerCore: &one}, map[string]*cpus{"m5.xlarge": {2, 1}, "m5.2xlarge": {4, 1}}},
		{"four cores", &awsv1.CPUOptions{CoreCount: &four}, map[string]*cpus{"m5.2xlarge": {4, 2}, "m5.4xlarge": {4, 2}}},
		{"both", &awsv1.CPUOptions{CoreCount: &four, ThreadsPerCore: &one}, map[string]*cpus{"m5.2xlarge": {4, 1}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			class := &awsv1.EC2NodeClass{ObjectMeta: metav1.ObjectMeta{Name: "default"}}
			class.Spec.CPUOptions = c.options
			class.Status.AMIs = []awsv1.AMI{{ID: "ami-1"}}
			class.Status.SecurityGroups = []awsv1.SecurityGroup{{ID: "sg-1"}}
			class.Status.InstanceProfile = "demo"
			all, err := instancetype.Resolve(facts, class, instancetype.Options{})
			if err != nil {
				t.Fatal(err)
			}
			var types []*cloudprovider.InstanceType
			for _, each := range all {
				if _, ok := c.want[each.Name]; ok {
					types = append(types, each)
				}
			}
			result, err := launchtemplate.Build(launchtemplate.Request{
				Cluster:   launchtemplate.Cluster{Name: "demo", Endpoint: "https://api.demo.example", ServiceCIDR: "172.20.0.0/16"},
				NodeClass: class, InstanceTypes: types, CapacityType: v1.CapacityTypeOnDemand,
			})
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]*cpus{}
			for _, template := range result.Templates {
				var have *cpus
				if o := template.Data.CpuOptions; o != nil {
					have = &cpus{*o.CoreCount, *o.ThreadsPerCore}
				}
				for _, name := range slices.Clone(template.InstanceTypes) {
					got[name] = have
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
