package cloudprovider

// PriceConfidence says how reliable a price is. Values are stable.
type PriceConfidence string

const (
	// PriceCurrent: the cloud reported the price on the day of the basis, as the price to plan with.
	PriceCurrent PriceConfidence = "current"
	// PriceGiven: the user gave the price, in a file or a NodeOverlay.
	PriceGiven PriceConfidence = "given"
	// PriceDated: the price is from a public list of the day of the basis, and may have changed since that day.
	PriceDated PriceConfidence = "dated"
	// PriceEstimated: the price is not known; it is computed from other prices.
	PriceEstimated PriceConfidence = "estimated"
)

// PriceBasis says how reliable a price is, and where and when it was valid. Several offerings share one PriceBasis, so it must not be
// changed.
type PriceBasis struct {
	// Date is the day of the price, for instance "2026-07-20"; empty if it is not known.
	Date string `json:"date,omitempty"`
	// Region is the region for which the price is valid; empty if it is not known.
	Region string `json:"region,omitempty"`
	// Confidence says how reliable the price is; empty if this is not known.
	Confidence PriceConfidence `json:"confidence,omitempty"`
	// Low and High are the lowest and the highest price of the instance type in the region at the time of the price, in USD per hour. For a
	// spot price, all zones of the region are included. Both are 0 if no such range is known. Prices without a range don't vary.
	Low  float64 `json:"low,omitempty"`
	High float64 `json:"high,omitempty"`
}

// Repriced returns the basis of a price that reprice computes from the price with basis b. It returns nil for a nil basis.
func (b *PriceBasis) Repriced(reprice func(usd float64) float64) *PriceBasis {
	if b == nil || b.Low == 0 && b.High == 0 || reprice == nil {
		return b
	}
	out := *b
	out.Low, out.High = reprice(b.Low), reprice(b.High)
	return &out
}
