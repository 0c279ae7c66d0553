package launchtemplate

import (
	"slices"

	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
)

// networkInterfaces returns the instance's interfaces: those that the class lists, or else one for each EFA that the claim's pods get, or
// else a single interface. Each interface has the security groups, because EC2 refuses security groups at the top level together with
// interfaces. The launch request sets the subnets.
func (p *plan) networkInterfaces(efas int32) []ec2types.LaunchTemplateInstanceNetworkInterfaceSpecificationRequest {
	listed := p.NodeClass.Spec.NetworkInterfaces
	interfaces := make([]ec2types.LaunchTemplateInstanceNetworkInterfaceSpecificationRequest, 0, max(len(listed), int(efas), 1))
	switch {
	case len(listed) > 0:
		for _, n := range listed {
			entry := p.networkInterface(n.DeviceIndex, n.InterfaceType != awsv1.InterfaceTypeEFAOnly)
			kind := string(n.InterfaceType)
			entry.NetworkCardIndex, entry.InterfaceType = &n.NetworkCardIndex, &kind
			interfaces = append(interfaces, entry)
		}
	case efas > 0:
		for card := range efas {
			// The first device of the first card is the primary interface. On network cards other than the first, device index 0 stays
			// unused.
			entry := p.networkInterface(min(card, 1), true)
			kind := "efa"
			entry.NetworkCardIndex, entry.InterfaceType = &card, &kind
			interfaces = append(interfaces, entry)
		}
	default:
		interfaces = append(interfaces, p.networkInterface(0, true))
	}
	return interfaces
}

// networkInterface returns one interface. carriesIP is false for interfaces without addresses: EC2 refuses settings of addresses and
// connections for such interfaces.
func (p *plan) networkInterface(device int32, carriesIP bool) ec2types.LaunchTemplateInstanceNetworkInterfaceSpecificationRequest {
	entry := ec2types.LaunchTemplateInstanceNetworkInterfaceSpecificationRequest{DeviceIndex: &device, Groups: p.securityGroups()}
	if !carriesIP {
		return entry
	}
	spec := &p.NodeClass.Spec
	entry.AssociatePublicIpAddress = spec.AssociatePublicIPAddress
	if c := spec.ConnectionTracking; c != nil {
		entry.ConnectionTrackingSpecification = &ec2types.ConnectionTrackingSpecificationRequest{
			TcpEstablishedTimeout: c.TCPEstablishedTimeout,
			UdpStreamTimeout:      c.UDPStreamTimeout,
			UdpTimeout:            c.UDPTimeout,
		}
	}
	if !p.ipv6 {
		entry.Ipv4PrefixCount = spec.IPPrefixCount
		return entry
	}
	one, primary := int32(1), true
	entry.Ipv6PrefixCount, entry.Ipv6AddressCount, entry.PrimaryIpv6 = spec.IPPrefixCount, &one, &primary
	return entry
}

func (p *plan) securityGroups() []string {
	ids := make([]string, 0, len(p.NodeClass.Status.SecurityGroups))
	for _, g := range p.NodeClass.Status.SecurityGroups {
		ids = append(ids, g.ID)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}
