package launch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/aws/instancetype"
	"github.com/drawknife/drawknife/aws/sdk"
	"github.com/drawknife/drawknife/cloudprovider"
)

// createFleet requests one instance, or one for each claim of a batch, and reads the answer. For a batch it may return both instances and
// an error that applies to the claims without an instance.
func (l *Launcher) createFleet(ctx context.Context, f *flight, offers []offer, generation int) ([]*Instance, retry, error) {
	uid := f.key()
	tags, err := l.tags(f, generation)
	if err != nil {
		return nil, retryNo, cloudprovider.NewPermanentError(err)
	}
	start := l.options.Now()
	out, err := l.options.EC2.CreateFleet(ctx, fleetInput(f, offers, tags, token(uid, generation)))
	if err != nil {
		return l.callFailed(f, offers, err)
	}
	if out == nil {
		return nil, retryNo, cloudprovider.NewTransientError(errors.New("CreateFleet gave an empty answer"))
	}
	l.learn(f, offers, out.Errors)
	launched, err := l.instancesOf(f, offers, out, tags)
	switch {
	case err != nil:
		return nil, retryNo, err
	case len(launched) > 0 && slices.Contains(f.Dead, launched[0].InstanceID):
		// EC2 repeats an old answer: the claim still exists, but its instance is gone.
		return nil, retryNewToken, cloudprovider.NewTransientError(fmt.Errorf("EC2 answered with instance %s, which is gone", launched[0].InstanceID))
	case len(launched) > 0:
		l.attempts.succeed(uid, launched...)
		l.quotas.clear()
		f.settle(reservationOf(cloudprovider.Candidate{Offering: launched[0].Offering}), len(launched), start)
		return launched, retryNo, l.missing(f, launched, out.Errors)
	}
	if len(out.Errors) == 0 {
		out.Errors = l.unexplained(f, offers)
	}
	if !f.retriedLT && slices.ContainsFunc(out.Errors, func(e ec2types.CreateFleetError) bool {
		return sdk.IsLaunchTemplateNotFound(fleetError(e))
	}) {
		f.retriedLT = true
		l.forget(offers)
		return nil, retryNewToken, l.nothing(f, out.Errors)
	}
	l.attempts.fail(uid)
	f.settle("", 0, start) // release the held capacity of reservations, so that the error does not report it as used
	return nil, retry(l.elsewhere(f)), l.nothing(f, out.Errors)
}

// fleetInput returns the request. Equal launches give equal requests, byte for byte, because EC2 requires this for a repeated client token.
func fleetInput(f *flight, offers []offer, tags map[string]string, clientToken string) *ec2.CreateFleetInput {
	in := &ec2.CreateFleetInput{
		Type:        ec2types.FleetTypeInstant,
		ClientToken: aws.String(clientToken),
		TargetCapacitySpecification: &ec2types.TargetCapacitySpecificationRequest{
			TotalTargetCapacity: aws.Int32(1),
		},
	}
	_, prioritised := f.NodeClaim.Annotations[v1.PriceOverlayAppliedAnnotationKey]
	prioritised = prioritised || reordered(f.choice.Candidates, f.choice.Cost)
	target, kind := in.TargetCapacitySpecification, reservationKind(f.choice.Candidates[0])
	switch {
	case f.choice.CapacityType == v1.CapacityTypeSpot:
		target.DefaultTargetCapacityType = ec2types.DefaultTargetCapacityTypeSpot
		in.SpotOptions = &ec2types.SpotOptionsRequest{AllocationStrategy: ec2types.SpotAllocationStrategyPriceCapacityOptimized}
		if prioritised {
			in.SpotOptions.AllocationStrategy = ec2types.SpotAllocationStrategyCapacityOptimizedPrioritized
		}
	case kind == kindBlock:
		target.DefaultTargetCapacityType = ec2types.DefaultTargetCapacityTypeCapacityBlock
	case kind == kindInterruptible:
		target.DefaultTargetCapacityType = ec2types.DefaultTargetCapacityTypeReservedCapacity
		in.ReservedCapacityOptions = &ec2types.ReservedCapacityOptionsRequest{
			ReservationTypes: []ec2types.FleetReservationType{ec2types.FleetReservationTypeInterruptibleCapacityReservation},
		}
	default:
		target.DefaultTargetCapacityType = ec2types.DefaultTargetCapacityTypeOnDemand
		in.OnDemandOptions = &ec2types.OnDemandOptionsRequest{AllocationStrategy: ec2types.FleetOnDemandAllocationStrategyLowestPrice}
		if prioritised {
			in.OnDemandOptions.AllocationStrategy = ec2types.FleetOnDemandAllocationStrategyPrioritized
		}
	}
	for _, o := range offers {
		in.LaunchTemplateConfigs = append(in.LaunchTemplateConfigs, o.config(f.choice.Cost))
	}
	list := tagList(tags)
	for _, resource := range []ec2types.ResourceType{ec2types.ResourceTypeInstance, ec2types.ResourceTypeVolume, ec2types.ResourceTypeFleet} {
		in.TagSpecifications = append(in.TagSpecifications, ec2types.TagSpecification{ResourceType: resource, Tags: list})
	}
	if !relaxed(f.NodeClaim) {
		in.Context = f.NodeClass.Spec.Context
	}
	f.forMany(in)
	return in
}

func (o offer) config(cost cloudprovider.LaunchCost) ec2types.FleetLaunchTemplateConfigRequest {
	config := ec2types.FleetLaunchTemplateConfigRequest{
		LaunchTemplateSpecification: &ec2types.FleetLaunchTemplateSpecificationRequest{
			LaunchTemplateName: aws.String(o.template.Name),
			Version:            aws.String("$Latest"),
		},
	}
	for _, v := range o.overrides {
		request := ec2types.FleetLaunchTemplateOverridesRequest{
			InstanceType:     ec2types.InstanceType(v.candidate.Type.Name),
			AvailabilityZone: aws.String(v.candidate.Offering.Zone()),
			Priority:         aws.Float64(cost.Of(v.candidate)),
		}
		if o.template.ImageID != "" {
			request.ImageId = aws.String(o.template.ImageID)
		}
		if v.subnetID != "" {
			request.SubnetId = aws.String(v.subnetID)
		}
		config.Overrides = append(config.Overrides, request)
	}
	return config
}

func tagList(tags map[string]string) []ec2types.Tag {
	list := make([]ec2types.Tag, 0, len(tags))
	for _, key := range slices.Sorted(maps.Keys(tags)) {
		list = append(list, ec2types.Tag{Key: aws.String(key), Value: aws.String(tags[key])})
	}
	return list
}

func (f *flight) zoneOf(subnetID string) string {
	for _, s := range f.NodeClass.Status.Subnets {
		if s.ID == subnetID {
			return s.Zone
		}
	}
	return ""
}

// zoneID returns the zone ID of the subnet, or of any subnet in the zone if EC2 didn't name a subnet.
func (f *flight) zoneID(zone, subnetID string) string {
	for _, s := range f.NodeClass.Status.Subnets {
		if s.ID == subnetID || subnetID == "" && s.Zone == zone {
			return s.ZoneID
		}
	}
	return ""
}

// instancesOf returns the instances of an answer, each with its claim. If EC2 names a type or zone that was not requested, the instance
// can't be described here: the error is transient, and the next call finds it by its tags.
func (l *Launcher) instancesOf(f *flight, offers []offer, out *ec2.CreateFleetOutput, tags map[string]string) ([]*Instance, error) {
	var all []*Instance
	var unknown []error
	for i := range out.Instances {
		for _, id := range out.Instances[i].InstanceIds {
			m, err := l.instanceOf(f, offers, &out.Instances[i], id)
			if err != nil {
				unknown = append(unknown, err)
				continue
			}
			m.Tags = tags
			all = append(all, m)
		}
	}
	if len(unknown) > 0 && (f.claims != nil || len(all) == 0) {
		return nil, errors.Join(unknown...)
	}
	if len(all) > f.count() {
		l.options.Logger.Warn("launched more instances than requested, leaving the rest to garbage collection", "nodeClaim", f.NodeClaim.Name, "requested", f.count(), "launched", len(all))
	}
	return f.assign(all), nil
}

// instanceOf describes an instance of an answer.
func (l *Launcher) instanceOf(f *flight, offers []offer, in *ec2types.CreateFleetInstance, id string) (*Instance, error) {
	instanceType, zone, subnetID, image, template := string(in.InstanceType), aws.ToString(in.AvailabilityZone), aws.ToString(in.SubnetId), "", ""
	if echo := in.LaunchTemplateAndOverrides; echo != nil {
		if o := echo.Overrides; o != nil {
			instanceType = cmp.Or(instanceType, string(o.InstanceType))
			zone = cmp.Or(aws.ToString(o.AvailabilityZone), zone)
			subnetID = cmp.Or(aws.ToString(o.SubnetId), subnetID)
			image = aws.ToString(o.ImageId)
		}
		if s := echo.LaunchTemplateSpecification; s != nil {
			template = aws.ToString(s.LaunchTemplateName)
		}
	}
	zone = cmp.Or(zone, f.zoneOf(subnetID))
	v, ok := find(offers, template, instanceType, zone)
	if !ok {
		v, ok = find(offers, "", instanceType, zone)
	}
	if !ok {
		return nil, cloudprovider.NewTransientError(fmt.Errorf(
			"EC2 launched instance %s as %q in zone %q, which was not requested; the next call finds it by its tags", id, instanceType, zone))
	}
	return &Instance{
		InstanceID: id,
		Type:       v.candidate.Type, Offering: v.candidate.Offering,
		Zone: zone, ZoneID: f.zoneID(zone, subnetID), SubnetID: cmp.Or(subnetID, v.subnet.ID),
		ImageID:      cmp.Or(image, imageOf(offers, v)),
		CapacityType: f.choice.CapacityType, Tenancy: f.choice.Tenancy,
		PlacementGroupID: f.PlacementGroupID,
		EFAs:             f.efas(v.candidate.Type),
		NodeClaimUID:     f.NodeClaim.UID, NodeClaim: f.NodeClaim.Name,
		LaunchedAt: l.options.Now(),
	}, nil
}

func imageOf(offers []offer, v override) string {
	for _, o := range offers {
		if slices.Contains(o.overrides, v) {
			return o.template.ImageID
		}
	}
	return ""
}

// efas returns the number of EFA interfaces of an instance: all that its type has, if the claim's pods request EFA or if the class lists
// its network interfaces itself.
func (f *flight) efas(t *cloudprovider.InstanceType) int {
	asked := f.wish.Requests[instancetype.ResourceEFA]
	if asked.Sign() <= 0 && len(f.NodeClass.Spec.NetworkInterfaces) == 0 {
		return 0
	}
	has := t.Capacity[instancetype.ResourceEFA]
	return int(has.Value())
}
