package launchtemplate

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	v1 "github.com/drawknife/drawknife/api/v1"
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/instancetype"
	"github.com/drawknife/drawknife/aws/launchtemplate/userdata"
)

// data returns the content of a template for EC2.
func (p *plan) data(g group, rendered userdata.Rendered) (*ec2types.RequestLaunchTemplateData, error) {
	spec := &p.NodeClass.Spec
	userData, profile := rendered.Base64(), p.instanceProfile()
	monitoring := spec.DetailedMonitoring != nil && *spec.DetailedMonitoring
	enclave := p.asks(ResourceNitroSandbox) || p.asks(ResourceNIPSlots)
	placement, err := p.placement()
	if err != nil {
		return nil, err
	}
	volumes, err := p.volumes()
	if err != nil {
		return nil, err
	}
	data := &ec2types.RequestLaunchTemplateData{
		ImageId:             &g.imageID,
		UserData:            &userData,
		IamInstanceProfile:  &ec2types.LaunchTemplateIamInstanceProfileSpecificationRequest{Name: &profile},
		Monitoring:          &ec2types.LaunchTemplatesMonitoringRequest{Enabled: &monitoring},
		MetadataOptions:     p.metadataOptions(),
		NetworkInterfaces:   p.networkInterfaces(g.efas),
		Placement:           placement,
		EnclaveOptions:      &ec2types.LaunchTemplateEnclaveOptionsRequest{Enabled: &enclave},
		TagSpecifications:   p.tagSpecifications(),
		BlockDeviceMappings: volumes,
	}
	data.CpuOptions = cpuOptions(spec.CPUOptions, g)
	instanceOptions(data, spec, g)
	p.reservation(data, g.reservation)
	return data, nil
}

// placement returns the tenancy with the hosts, and the placement group with its partition.
func (p *plan) placement() (*ec2types.LaunchTemplatePlacementRequest, error) {
	placement := &ec2types.LaunchTemplatePlacementRequest{Tenancy: ec2types.TenancyDefault}
	if tenancy := cmp.Or(p.NodeClass.Spec.EffectiveTenancy(), instancetype.TenancyOf(p.want)); tenancy != "" {
		placement.Tenancy = ec2types.Tenancy(tenancy)
	}
	if hosts := p.NodeClass.Spec.Placement; hosts != nil {
		placement.HostId, placement.HostResourceGroupArn = hosts.HostID, hosts.HostResourceGroupARN
	}
	if p.PlacementGroupID == "" {
		return placement, nil
	}
	id := p.PlacementGroupID
	placement.GroupId = &id
	partitions := p.want.Get(awsv1.LabelPlacementGroupPartition)
	if partitions.Complement() || len(partitions.Values()) == 0 {
		return placement, nil
	}
	text := slices.Min(partitions.Values())
	number, err := strconv.ParseInt(text, 10, 32)
	if err != nil || number < 1 {
		return nil, p.failed(fmt.Errorf("the claim asks for partition %q of the placement group: a partition is a number from 1", text))
	}
	partition := int32(number)
	placement.PartitionNumber = &partition
	return placement, nil
}

// metadataOptions returns the class's options, completed with defaults. Instance tags in the metadata are always off, even if the account
// turns them on by default: our tag keys are invalid in the metadata.
func (p *plan) metadataOptions() *ec2types.LaunchTemplateInstanceMetadataOptionsRequest {
	class := &awsv1.EC2NodeClass{}
	class.Spec.MetadataOptions = p.NodeClass.Spec.MetadataOptions.DeepCopy()
	class.Default()
	options := class.Spec.MetadataOptions
	hops := int32(min(*options.HTTPPutResponseHopLimit, 1<<10))
	request := &ec2types.LaunchTemplateInstanceMetadataOptionsRequest{
		HttpEndpoint:            ec2types.LaunchTemplateInstanceMetadataEndpointState(*options.HTTPEndpoint),
		HttpProtocolIpv6:        ec2types.LaunchTemplateInstanceMetadataProtocolIpv6(*options.HTTPProtocolIPv6),
		HttpPutResponseHopLimit: &hops,
		HttpTokens:              ec2types.LaunchTemplateHttpTokensState(*options.HTTPTokens),
		InstanceMetadataTags:    ec2types.LaunchTemplateInstanceMetadataTagsStateDisabled,
	}
	if slices.Contains(regionsWithoutMetadataIPv6(), p.Cluster.Region) {
		request.HttpProtocolIpv6 = ""
	}
	return request
}

// regionsWithoutMetadataIPv6 returns the regions whose API lacks the field httpProtocolIpv6.
func regionsWithoutMetadataIPv6() []string {
	return []string{
		"us-iso-east-1", "us-iso-west-1", "us-isob-east-1", "us-isob-west-1", "us-isof-south-1", "us-isof-east-1",
	}
}

// reservation sets how capacity reservations are used. The value "none" prevents instances that were not planned for a reservation from
// using an open one.
func (p *plan) reservation(data *ec2types.RequestLaunchTemplateData, r CapacityReservation) {
	if p.Cluster.IgnoreReservations {
		return
	}
	if r.ID == "" {
		data.CapacityReservationSpecification = &ec2types.LaunchTemplateCapacityReservationSpecificationRequest{
			CapacityReservationPreference: ec2types.CapacityReservationPreferenceNone,
		}
		return
	}
	data.CapacityReservationSpecification = &ec2types.LaunchTemplateCapacityReservationSpecificationRequest{
		CapacityReservationPreference: ec2types.CapacityReservationPreferenceCapacityReservationsOnly,
		CapacityReservationTarget:     &ec2types.CapacityReservationTarget{CapacityReservationId: &r.ID},
	}
	switch {
	case r.Type == awsv1.CapacityReservationTypeCapacityBlock:
		data.InstanceMarketOptions = &ec2types.LaunchTemplateInstanceMarketOptionsRequest{MarketType: ec2types.MarketTypeCapacityBlock}
	case r.Interruptible:
		data.InstanceMarketOptions = &ec2types.LaunchTemplateInstanceMarketOptionsRequest{MarketType: ec2types.MarketTypeInterruptibleCapacityReservation}
	}
}

// tagSpecifications returns the tags of the resources that get their tags from the template. Instances and volumes get their tags from the
// launch request.
func (p *plan) tagSpecifications() []ec2types.LaunchTemplateTagSpecificationRequest {
	specifications := []ec2types.LaunchTemplateTagSpecificationRequest{{ResourceType: ec2types.ResourceTypeNetworkInterface, Tags: p.tags}}
	if p.CapacityType == v1.CapacityTypeSpot {
		specifications = append(specifications, ec2types.LaunchTemplateTagSpecificationRequest{ResourceType: ec2types.ResourceTypeSpotInstancesRequest, Tags: p.tags})
	}
	return specifications
}
