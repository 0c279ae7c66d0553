package prices

import (
	"time"

	"github.com/drawknife/drawknife/cloudprovider"
)

// Quote is a price with its provenance.
type Quote struct {
	// USD per hour; see the package comment for the China regions.
	USD float64
	// Source says, for people, where the price comes from and since when it is valid. It changes only with the price, its source or its
	// reliability, not with each refresh.
	Source string
	// Confidence says how reliable the price is.
	Confidence cloudprovider.PriceConfidence
	// Since is when the price took its present value, as far as known.
	Since time.Time
	// Confirmed is when the price's source last confirmed it.
	Confirmed time.Time
}

// Day returns the day of the price. For a current price it is the day when the source last confirmed it; for a dated or estimated price it
// is the day of Since.
func (q Quote) Day() string {
	at := q.Confirmed
	if q.Confidence == cloudprovider.PriceDated || q.Confidence == cloudprovider.PriceEstimated {
		at = q.Since
	}
	if at.IsZero() {
		return ""
	}
	return at.UTC().Format(time.DateOnly)
}

// Age returns how long ago the price was last confirmed.
func (q Quote) Age(now time.Time) time.Duration { return now.Sub(q.Confirmed) }

// Book contains the prices at one time. It never changes; a nil Book has no prices. Lookups never call AWS and never fail.
type Book struct {
	onDemand  map[string]Quote
	dedicated map[string]Quote
	local     map[Pair]Quote
	spot      map[Pair]Quote
	// asSpot has the on-demand prices, to use as spot prices, by type; nil after spot prices have been read.
	asSpot          map[string]Quote
	minSpotDiscount float64
}

// untilSpotIsRead is the prefix of the source of spot prices that are on-demand prices.
const untilSpotIsRead = "on-demand price, until spot prices are read; "

// OnDemand returns the on-demand price of a type. It returns false if the price is unknown.
func (b *Book) OnDemand(instanceType string) (Quote, bool) {
	if b == nil {
		return Quote{}, false
	}
	q, ok := b.onDemand[instanceType]
	return q, ok
}

// Dedicated returns the on-demand price of a type as a Dedicated Instance, without the fee for the region. It returns false if the price is
// unknown.
func (b *Book) Dedicated(instanceType string) (Quote, bool) {
	if b == nil {
		return Quote{}, false
	}
	q, ok := b.dedicated[instanceType]
	return q, ok
}

// Local returns the on-demand price of a type in a zone that has prices of its own, such as a Local Zone. It returns false if the zone has
// no prices of its own, or no price for the type.
func (b *Book) Local(instanceType, zone string) (Quote, bool) {
	if b == nil {
		return Quote{}, false
	}
	q, ok := b.local[Pair{InstanceType: instanceType, Zone: zone}]
	return q, ok
}

// Spot returns the spot price of a type in a zone. It returns false if the price is unknown, or if the discount is less than
// Options.MinSpotDiscount. Until spot prices are read for the first time, it returns the on-demand price, which is an upper bound.
func (b *Book) Spot(instanceType, zone string) (Quote, bool) {
	switch {
	case b == nil:
		return Quote{}, false
	case b.asSpot != nil:
		q, ok := b.asSpot[instanceType]
		return q, ok
	}
	q, ok := b.spot[Pair{InstanceType: instanceType, Zone: zone}]
	if ok && b.minSpotDiscount > 0 {
		if onDemand, known := b.onDemand[instanceType]; known && q.USD > onDemand.USD*(1-b.minSpotDiscount) {
			return Quote{}, false
		}
	}
	return q, ok
}

// Len returns the numbers of on-demand and of spot prices.
func (b *Book) Len() (onDemand, spot int) {
	if b == nil {
		return 0, 0
	}
	return len(b.onDemand), len(b.spot)
}
