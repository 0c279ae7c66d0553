package launchtemplate_test

import (
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

// Burstable types have a template of their own with the CPU credits, which EC2 refuses for others. Bandwidth and licences are in all templates.
func TestInstanceOptions(t *testing.T) {
	facts, err := catalog.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	unlimited, vpc := awsv1.CPUCreditsUnlimited, awsv1.BandwidthWeightingVPC
	const licence = "arn:aws:license-manager:us-east-1:123456789012:license-configuration:lic-0123"
	type options struct{ Credits, Bandwidth, Licence string }
	for _, c := range []struct {
		name string
		spec awsv1.EC2NodeClassSpec
		want map[string]options // by instance type
	}{
		{"none", awsv1.EC2NodeClassSpec{}, map[string]options{"t3.medium": {}, "t1.micro": {}, "m5.large": {}}},
		{"nothing chosen", awsv1.EC2NodeClassSpec{CreditSpecification: &awsv1.CreditSpecification{}, NetworkPerformanceOptions: &awsv1.NetworkPerformanceOptions{}},
			map[string]options{"t3.medium": {}, "m5.large": {}}},
		{"credits", awsv1.EC2NodeClassSpec{CreditSpecification: &awsv1.CreditSpecification{CPUCredits: &unlimited}},
			map[string]options{"t3.medium": {Credits: "unlimited"}, "t3a.medium": {Credits: "unlimited"}, "t1.micro": {}, "m5.large": {}}},
		{"bandwidth and licences", awsv1.EC2NodeClassSpec{
			NetworkPerformanceOptions: &awsv1.NetworkPerformanceOptions{BandwidthWeighting: &vpc},
			LicenseSpecifications:     []awsv1.LicenseSpecification{{LicenseConfigurationARN: licence}},
		}, map[string]options{"t3.medium": {"", "vpc-1", licence}, "m5.large": {"", "vpc-1", licence}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			class := &awsv1.EC2NodeClass{ObjectMeta: metav1.ObjectMeta{Name: "default"}, Spec: c.spec}
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
			got := map[string]options{}
			for _, template := range result.Templates {
				var has options
				if o := template.Data.CreditSpecification; o != nil {
					has.Credits = *o.CpuCredits
				}
				if o := template.Data.NetworkPerformanceOptions; o != nil {
					has.Bandwidth = string(o.BandwidthWeighting)
				}
				for _, l := range template.Data.LicenseSpecifications {
					has.Licence += *l.LicenseConfigurationArn
				}
				for _, name := range template.InstanceTypes {
					got[name] = has
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
