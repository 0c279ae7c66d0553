package prices

import (
	"time"

	"github.com/drawknife/drawknife/cloudprovider"
)

// Quote is a price with its provenance.
type Quote struct {
	// USD per hour; see the package comment for the China regions.
	USD float64
	// Source says, for people, where the price comes from and since when it is what it is. It changes only when the
	// price, its source or its standing does, not with each refresh.
	Source string
	// Confidence says how far the price can be relied on.
	Confidence cloudprovider.PriceConfidence
	// Since is when the price became what it is, as far as is known.
	Since time.Time
	// Confirmed is when its source last said so.
	Confirmed time.Time
}

// Day is that of the price: when its source last said so or, of a price that is not current, when it was what it is.
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

// Age is how long ago the price was last confirmed.
func (q Quote) Age(now time.Time) time.Duration { return now.Sub(q.Confirmed) }

// Book is the prices in force at one time. It never changes; a nil Book has no prices. Lookups never call AWS and never
// fail.
type Book struct {
	onDemand map[string]Quote
	spot     map[Pair]Quote
	// asSpot are the on-demand prices as spot prices, by type, when no spot price was ever read; else nil.
	asSpot          map[string]Quote
	minSpotDiscount float64
}

// untilSpotIsRead is the source of spot prices that are on-demand prices.
const untilSpotIsRead = "on-demand price, until spot prices are read; "

// OnDemand is the on-demand price of a type; false when none is known.
func (b *Book) OnDemand(instanceType string) (Quote, bool) {
	if b == nil {
		return Quote{}, false
	}
	q, ok := b.onDemand[instanceType]
	return q, ok
}

// Spot is the spot price of a type in a zone; false when none is known, or when it is not as far below the on-demand
// price as Options.MinSpotDiscount asks. Before spot prices were read for the first time it is the on-demand price,
// which spot prices stay below.
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

// Len is how many prices of either kind there are.
func (b *Book) Len() (onDemand, spot int) {
	if b == nil {
		return 0, 0
	}
	return len(b.onDemand), len(b.spot)
}
