package launchtemplate

import (
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
)

// creditsOf returns the class's choice of CPU credits if the type has CPU credits: types of category t, except t1.micro.
func (p *plan) creditsOf(t *cloudprovider.InstanceType) awsv1.CPUCredits {
	o := p.NodeClass.Spec.CreditSpecification
	if o == nil || o.CPUCredits == nil {
		return ""
	}
	if category := t.Requirements.Get(awsv1.LabelInstanceCategory); category.Complement() || !category.Has("t") {
		return ""
	}
	if family := t.Requirements.Get(awsv1.LabelInstanceFamily); family.Has("t1") {
		return ""
	}
	return *o.CPUCredits
}

// instanceOptions adds the class's settings of CPU credits, bandwidth and licences.
func instanceOptions(data *ec2types.RequestLaunchTemplateData, spec *awsv1.EC2NodeClassSpec, g group) {
	if g.credits != "" {
		credits := string(g.credits)
		data.CreditSpecification = &ec2types.CreditSpecificationRequest{CpuCredits: &credits}
	}
	// The default bandwidth weighting is not sent, so that types without this option can also be launched.
	if o := spec.NetworkPerformanceOptions; o != nil && o.BandwidthWeighting != nil && *o.BandwidthWeighting != awsv1.BandwidthWeightingDefault {
		data.NetworkPerformanceOptions = &ec2types.LaunchTemplateNetworkPerformanceOptionsRequest{
			BandwidthWeighting: ec2types.InstanceBandwidthWeighting(*o.BandwidthWeighting),
		}
	}
	for _, l := range spec.LicenseSpecifications {
		data.LicenseSpecifications = append(data.LicenseSpecifications, ec2types.LaunchTemplateLicenseConfigurationRequest{LicenseConfigurationArn: &l.LicenseConfigurationARN})
	}
}
