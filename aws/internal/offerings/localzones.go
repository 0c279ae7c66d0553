package offerings

import (
	"strings"

	"github.com/drawknife/drawknife/aws/instancetype"
	"github.com/drawknife/drawknife/aws/prices"
	"github.com/drawknife/drawknife/cloudprovider"
)

// isLocal reports whether a zone is a Local Zone or a Wavelength Zone of the region: their names go on after the region's with a dash, as
// us-west-2-lax-1a, and not with a letter, as us-west-2a.
func isLocal(region, zone string) bool { return strings.HasPrefix(zone, region+"-") }

// onDemandIn returns the on-demand price of a shape in a zone: that of its tenancy, and in a Local Zone that of the zone, if they are known.
func (b *builder) onDemandIn(shape *instancetype.Shape, z *zone) prices.Quote {
	name := shape.Type.Name
	if z.local {
		if quote, ok := b.market.Prices.Local(name, z.name); ok {
			return inTenancy(shape, quote)
		}
		return inLocalZone(b.onDemandIn(shape, &zone{}))
	}
	quote, _ := b.market.Prices.OnDemand(name)
	if shape.Dedicated() && !shape.OnHosts() {
		if dedicated, ok := b.market.Prices.Dedicated(name); ok {
			return dedicated
		}
	}
	return inTenancy(shape, quote)
}

// inTenancy estimates the price of an instance with the shape's tenancy from the price on shared hardware.
func inTenancy(shape *instancetype.Shape, q prices.Quote) prices.Quote {
	if shape.Dedicated() && q.USD > 0 {
		q.USD, q.Source, _ = shape.WithTenancy(q.USD, q.Source, nil)
		q.Confidence = cloudprovider.PriceEstimated
	}
	return q
}

// inLocalZone returns the price in a Local Zone for which the price list has none: that of the region. In Local Zones AWS asks more, so that
// it is an estimate.
func inLocalZone(q prices.Quote) prices.Quote {
	if q.USD > 0 {
		q.Source, q.Confidence = q.Source+", of the region: Local Zones cost more", cloudprovider.PriceEstimated
	}
	return q
}
