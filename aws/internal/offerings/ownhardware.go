package offerings

import (
	"cmp"
	"slices"

	"github.com/drawknife/drawknife/api/requirements"
	poolv1 "github.com/drawknife/drawknife/api/v1"
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/instancetype"
	"github.com/drawknife/drawknife/aws/internal/outposts"
	"github.com/drawknife/drawknife/aws/internal/unavailable"
	"github.com/drawknife/drawknife/aws/prices"
	"github.com/drawknife/drawknife/cloudprovider"
)

// Reasons why an offering on Dedicated Hosts or an Outpost is not available.
const (
	// ReasonHostsFull: no Dedicated Host on which the class may launch has room for the type.
	ReasonHostsFull = "no Dedicated Host has room for it"
	// ReasonNotOnOutpost: the Outpost is not configured for the type.
	ReasonNotOnOutpost = "the Outpost does not have the type"
	// ReasonReservationOnOutpost: the class launches on an Outpost in the zone, but the reservation is for capacity of the region.
	ReasonReservationOnOutpost = "launches on an Outpost use no capacity reservations of the region"
)

// sourceOutpost is the source of prices on Outposts.
const sourceOutpost = "Outpost: paid for by its contract"

// hostsFull returns the reason if no Dedicated Host in the zone has room for the type. It returns "" if a host has room, if the room is not
// known, and for tenancies that do not use hosts.
func (b *builder) hostsFull(shape *instancetype.Shape, zone string) string {
	if !shape.OnHosts() || b.view.HostRoom == nil || slices.Contains(b.view.HostRoom[zone], shape.Type.Name) {
		return ""
	}
	return ReasonHostsFull
}

// onOutpost calls the function give for the offerings of a type on the zone's Outpost. An Outpost has only on-demand instances. The
// contract of the Outpost pays for all instances, so the price is almost zero: a tiny part of the regional price, as in a reservation.
func (b *builder) onOutpost(shape *instancetype.Shape, z *zone, regional prices.Quote, give func(cloudprovider.Offering, string)) {
	reason := ""
	if !slices.Contains(z.outpost.Types, shape.Type.Name) {
		reason = ReasonNotOnOutpost
	}
	p := priced{usd: regional.USD / reservedPriceDivisor, source: sourceOutpost, reason: reason}
	b.buy(shape, z, poolv1.CapacityTypeOnDemand, z.sets[shape.Tenancy()].onDemand, p, give)
}

// setsIn returns the Outpost on which the class launches in a zone, or nil, and the requirements of the zone's offerings by tenancy.
func (b *builder) setsIn(zoneName string) (*outposts.Outpost, map[string]zoneSets) {
	var (
		outpost *outposts.Outpost
		labels  []requirements.Requirement
	)
	if o, ok := b.view.Outposts[zoneName]; ok {
		outpost, labels = &o, []requirements.Requirement{requirements.In(instancetype.LabelOutpostID, outposts.ID(o.ARN))}
	}
	sets := map[string]zoneSets{}
	setting := b.view.Settings.Tenancy
	for _, tenancy := range tenanciesOf(setting) {
		hardware := append(instancetype.OfferingLabels(setting, tenancy), labels...)
		sets[tenancy] = zoneSets{
			onDemand: b.sets(zoneName, poolv1.CapacityTypeOnDemand, hardware...), spot: b.sets(zoneName, poolv1.CapacityTypeSpot, hardware...),
		}
	}
	return outpost, sets
}

// tenanciesOf returns the tenancies that have separate offerings for a setting.
func tenanciesOf(setting string) []string {
	if setting == instancetype.TenancyApart {
		return []string{awsv1.TenancyDefault, awsv1.TenancyDedicated}
	}
	return []string{setting}
}

// tenancyIn returns the tenancy of instances that use a reservation: the reservation's tenancy if the setting is TenancyApart, else the
// setting.
func tenancyIn(setting string, r awsv1.CapacityReservation) string {
	if setting != instancetype.TenancyApart {
		return setting
	}
	return cmp.Or(string(r.Tenancy), awsv1.TenancyDefault)
}

// sameTenancy reports whether instances of the shape can use the reservation. If NodeClaims choose the tenancy, a launch uses shared
// hardware unless its claim excludes shared hardware. A claim that excludes shared hardware has its own view, whose setting is dedicated
// hardware.
func sameTenancy(shape *instancetype.Shape, r awsv1.CapacityReservation) bool {
	return shape.Dedicated() == (r.Tenancy == awsv1.TenancyDedicated)
}

// hardware returns the hardware that instances of the shape run on in a zone.
func (b *builder) hardware(shape *instancetype.Shape, zone string) unavailable.Hardware {
	return unavailable.HardwareOf(shape.Tenancy(), b.view.Host).On(b.view.Outposts[zone].ARN)
}
