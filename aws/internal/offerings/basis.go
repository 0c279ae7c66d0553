package offerings

import (
	"github.com/drawknife/drawknife/aws/catalog"
	"github.com/drawknife/drawknife/aws/instancetype"
	"github.com/drawknife/drawknife/aws/prices"
	"github.com/drawknife/drawknife/cloudprovider"
)

// basisOf returns the basis of a quoted price: its day, region and confidence.
func (b *builder) basisOf(q prices.Quote) *cloudprovider.PriceBasis { return b.basisOfRange(q, 0, 0) }

func (b *builder) basisOfRange(q prices.Quote, low, high float64) *cloudprovider.PriceBasis {
	return b.shared(cloudprovider.PriceBasis{Date: q.Day(), Region: b.market.Catalog.Region, Confidence: q.Confidence, Low: low, High: high})
}

// shared returns one shared object for all equal bases.
func (b *builder) shared(basis cloudprovider.PriceBasis) *cloudprovider.PriceBasis {
	if b.bases == nil {
		b.bases = map[cloudprovider.PriceBasis]*cloudprovider.PriceBasis{}
	}
	if b.bases[basis] == nil {
		b.bases[basis] = &basis
	}
	return b.bases[basis]
}

// spotRange returns the lowest and the highest spot price of the type in its zones, or 0 if they don't differ.
func (b *builder) spotRange(shape *instancetype.Shape) (low, high float64) {
	t := shape.Facts
	for _, i := range t.Zones {
		quote, ok := b.market.Prices.Spot(t.Name, b.zones[i].name)
		if !ok || quote.USD <= 0 {
			continue
		}
		quote = inTenancy(shape, quote)
		if low == 0 || quote.USD < low {
			low = quote.USD
		}
		high = max(high, quote.USD)
	}
	if low == high {
		return 0, 0
	}
	return low, high
}

// rateOf returns the interruption rate of spot instances of the type, or nil if it is not known. Types with the same band share it.
func (b *builder) rateOf(t *catalog.Type) *cloudprovider.InterruptionRate {
	low, high, source := b.market.Catalog.Interruptions(t)
	if high == 0 {
		return nil
	}
	rate := cloudprovider.InterruptionRate{Low: low, High: high, Source: source}
	if b.rates == nil {
		b.rates = map[cloudprovider.InterruptionRate]*cloudprovider.InterruptionRate{}
	}
	if b.rates[rate] == nil {
		b.rates[rate] = &rate
	}
	return b.rates[rate]
}

// sameRate reports whether two rates are equal.
func sameRate(a, b *cloudprovider.InterruptionRate) bool {
	return a == b || a != nil && b != nil && *a == *b
}

// sameBasis reports whether two bases are equal.
func sameBasis(a, b *cloudprovider.PriceBasis) bool {
	return a == b || a != nil && b != nil && *a == *b
}
