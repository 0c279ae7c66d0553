package offerings

import (
	"slices"

	poolv1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/aws/instancetype"
	"github.com/drawknife/drawknife/aws/internal/unavailable"
	"github.com/drawknife/drawknife/aws/prices"
	"github.com/drawknife/drawknife/cloudprovider"
)

// Reasons why an offering on hardware of the account's own is not available.
const (
	// ReasonHostsFull: no Dedicated Host on which the class may launch has room for the type.
	ReasonHostsFull = "no Dedicated Host has room for it"
	// ReasonNotOnOutpost: the Outpost is not configured for the type.
	ReasonNotOnOutpost = "the Outpost does not have the type"
	// ReasonReservationOnOutpost: the class launches on an Outpost in the zone, and the reservation is of the region.
	ReasonReservationOnOutpost = "launches on an Outpost use no capacity reservations of the region"
)

// sourceOutpost is the source of prices on Outposts.
const sourceOutpost = "Outpost: paid for by its contract"

// hostsFull says why an instance has no room on Dedicated Hosts in a zone; empty if it has, if that is not known, and for other tenancies.
func (b *builder) hostsFull(shape *instancetype.Shape, zone string) string {
	if !shape.OnHosts() || b.view.HostRoom == nil || slices.Contains(b.view.HostRoom[zone], shape.Type.Name) {
		return ""
	}
	return ReasonHostsFull
}

// onOutpost passes the offerings of a type on the zone's Outpost to give. An Outpost has on-demand instances alone. It is paid for by its
// contract, so that an instance costs almost nothing more, in proportion to its size, like one in a reservation.
func (b *builder) onOutpost(shape *instancetype.Shape, z *zone, regional prices.Quote, give func(cloudprovider.Offering, string)) {
	reason := ""
	if !slices.Contains(z.outpost.Types, shape.Type.Name) {
		reason = ReasonNotOnOutpost
	}
	p := priced{usd: regional.USD / reservedPriceDivisor, source: sourceOutpost, reason: reason}
	b.buy(shape, z, poolv1.CapacityTypeOnDemand, z.onDemand, p, give)
}

// hardware that instances of the shape run on in a zone.
func (b *builder) hardware(shape *instancetype.Shape, zone string) unavailable.Hardware {
	return unavailable.HardwareOf(shape.Tenancy(), b.view.Host).On(b.view.Outposts[zone].ARN)
}
