package offerings

import (
	"strings"

	"github.com/drawknife/drawknife/aws/instancetype"
	"github.com/drawknife/drawknife/aws/prices"
	"github.com/drawknife/drawknife/cloudprovider"
)

// isLocal reports whether a zone is a Local Zone or a Wavelength Zone of the region: in their names a dash follows the region, as in
// us-west-2-lax-1a, instead of a letter, as in us-west-2a.
func isLocal(region, zone string) bool { return strings.HasPrefix(zone, region+"-") }

// onDemandIn returns the on-demand price of a shape in a zone. It prefers the price for the shape's tenancy, and in a Local Zone the price
// of that zone, if these prices are known.
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

// inLocalZone returns the price of the region, for a Local Zone whose price is not in the price list. Local Zones are more expensive, so
// the price is marked as an estimate.
func inLocalZone(q prices.Quote) prices.Quote {
	if q.USD > 0 {
		q.Source, q.Confidence = q.Source+", of the region: Local Zones cost more", cloudprovider.PriceEstimated
	}
	return q
}
