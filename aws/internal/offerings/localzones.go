package offerings

import (
	"strings"

	"github.com/drawknife/drawknife/aws/prices"
	"github.com/drawknife/drawknife/cloudprovider"
)

// isLocal reports whether a zone is a Local Zone or a Wavelength Zone of the region: their names go on after the region's with a dash, as
// us-west-2-lax-1a, and not with a letter, as us-west-2a.
func isLocal(region, zone string) bool { return strings.HasPrefix(zone, region+"-") }

// inLocalZone returns the price in a Local Zone. The price list has prices of the region; in Local Zones AWS charges more, so the price is
// an estimate.
func inLocalZone(q prices.Quote) prices.Quote {
	if q.USD > 0 {
		q.Source, q.Confidence = q.Source+", of the region: Local Zones cost more", cloudprovider.PriceEstimated
	}
	return q
}
