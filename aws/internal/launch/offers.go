package launch

import (
	"cmp"
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/internal/unavailable"
	"github.com/drawknife/drawknife/cloudprovider"
)

// keyOf returns the key under which package unavailable knows a candidate; a reserved candidate has none.
func (f *flight) keyOf(c cloudprovider.Candidate) (unavailable.Key, bool) {
	if c.Offering.Reserved() {
		return unavailable.Key{}, false
	}
	return unavailable.Key{
		CapacityType: c.Offering.CapacityType(),
		InstanceType: c.Type.Name,
		Zone:         c.Offering.Zone(),
		GroupID:      f.PlacementGroupID,
		Partition:    f.partition(),
		Hardware:     f.hardware(tenancyOf(f.wish.Requirements, c), c.Offering.Zone()),
	}, true
}

// hardware returns the kind of hardware on which an instance with the given tenancy would run in the zone.
func (f *flight) hardware(tenancy, zone string) unavailable.Hardware {
	return unavailable.HardwareOf(tenancy, f.NodeClass.Spec.Host()).On(f.outposts[zone])
}

// keys returns the keys of the candidates in zones that have a subnet.
func (f *flight) keys(zones map[string]awsv1.Subnet) []unavailable.Key {
	var keys []unavailable.Key
	for _, c := range f.choice.Candidates {
		if _, ok := zones[c.Offering.Zone()]; !ok {
			continue
		}
		if key, ok := f.keyOf(c); ok {
			keys = append(keys, key)
		}
	}
	return keys
}

// closed returns the offerings of Choice.Suited that are unavailable now.
func (l *Launcher) closed(f *flight) []cloudprovider.OfferingKey {
	snapshot, rooms := l.options.Unavailable.Snapshot(), l.rooms()
	subnetsIn := map[string][]string{}
	for _, s := range f.NodeClass.Status.Subnets {
		subnetsIn[s.Zone] = append(subnetsIn[s.Zone], s.ID)
	}
	var keys []cloudprovider.OfferingKey
	for _, c := range f.choice.Suited {
		closed := !c.Offering.HasRoom() || rooms != nil && c.Offering.Reserved() && rooms.Room(reservationOf(c)) == 0
		if key, ok := f.keyOf(c); ok && !closed {
			_, closed = snapshot.Closed(key, subnetsIn[key.Zone])
			cpu := c.Type.Capacity[corev1.ResourceCPU]
			closed = closed || key.Hardware.Tenancy != awsv1.TenancyHost && snapshot.QuotaClosed(key.CapacityType, key.InstanceType, cpu.Value())
		}
		closed = closed || snapshot.VolumesClosed(c.Offering.Zone(), f.NodeClass.Spec.VolumeTypes())
		if closed {
			keys = append(keys, c.Key())
		}
	}
	return keys
}

// inTenancy returns the claim with a requirement for the tenancy of the choice, if its candidates state one, so that the launch template has
// it. claim itself is not changed.
func inTenancy(claim *v1.NodeClaim, choice Choice) *v1.NodeClaim {
	stated := choice.Candidates[0].Offering.Value(awsv1.LabelInstanceTenancy)
	if stated == "" {
		return claim
	}
	pinned := claim.DeepCopy()
	pinned.Spec.Requirements = append(pinned.Spec.Requirements, v1.NodeSelectorRequirementWithMinValues{
		Key: awsv1.LabelInstanceTenancy, Operator: corev1.NodeSelectorOpIn, Values: []string{stated},
	})
	return pinned
}

// offer is a launch template, with the offerings and subnets that a launch uses with it.
type offer struct {
	template  Template
	overrides []override
}

// override is a candidate with the subnet in which a fleet may launch it.
type override struct {
	candidate cloudprovider.Candidate
	subnet    awsv1.Subnet
	subnetID  string // empty if the template contains a subnet
}

// offers ensures that the launch templates exist, and distributes the candidates over them, in a fixed order. It leaves out the candidates
// of leaveOut, candidates without a subnet, and candidates for which the launch holds no capacity in their reservation.
func (l *Launcher) offers(ctx context.Context, f *flight, zones map[string]awsv1.Subnet, leaveOut []unavailable.Key) ([]offer, error) {
	choice := f.choice
	choice.Candidates = slices.DeleteFunc(slices.Clone(choice.Candidates), func(c cloudprovider.Candidate) bool {
		key, ok := f.keyOf(c)
		_, hasSubnet := zones[c.Offering.Zone()]
		return !hasSubnet || ok && slices.Contains(leaveOut, key) || !f.hasPlace(c)
	})
	if len(choice.Candidates) == 0 {
		return nil, nil
	}
	templates, err := l.options.Templates.Ensure(ctx, TemplateRequest{
		NodeClass: f.NodeClass, NodeClaim: inTenancy(f.NodeClaim, choice), InstanceTypes: choice.InstanceTypes(),
		CapacityType: choice.CapacityType, PlacementGroupID: f.PlacementGroupID,
	})
	if err != nil {
		return nil, launchError("preparing launch templates", err)
	}
	var offers []offer
	for _, t := range templates {
		o := offer{template: t}
		for _, c := range choice.Candidates {
			if !slices.Contains(t.InstanceTypes, c.Type.Name) ||
				t.ReservationID != c.Offering.Value(awsv1.LabelCapacityReservationID) ||
				t.Zone != "" && t.Zone != c.Offering.Zone() {
				continue
			}
			subnet := zones[c.Offering.Zone()]
			next := override{candidate: c, subnet: subnet, subnetID: subnet.ID}
			if t.Zone != "" {
				next.subnetID = ""
			}
			o.overrides = append(o.overrides, next)
		}
		if len(o.overrides) == 0 {
			continue
		}
		slices.SortFunc(o.overrides, func(a, b override) int {
			x, y := placeOf(a.candidate), placeOf(b.candidate)
			return cmp.Or(cmp.Compare(x.instanceType, y.instanceType), cmp.Compare(x.zone, y.zone))
		})
		offers = append(offers, o)
	}
	return offers, nil
}
