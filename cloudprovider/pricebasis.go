package cloudprovider

// PriceConfidence says how far a price can be relied on. Values are stable.
type PriceConfidence string

const (
	// PriceCurrent: the cloud gave the price on the day that the basis names, to plan with.
	PriceCurrent PriceConfidence = "current"
	// PriceGiven: the user gave the price, in a file or a NodeOverlay.
	PriceGiven PriceConfidence = "given"
	// PriceDated: the price is from a public list of the day that the basis names, and may have changed since.
	PriceDated PriceConfidence = "dated"
	// PriceEstimated: the price is not known; it is computed from other prices.
	PriceEstimated PriceConfidence = "estimated"
)

// PriceBasis says what a price rests on, in addition to its source. Offerings share it: it must not be changed.
type PriceBasis struct {
	// Date is the day of the price, "2026-07-20"; empty where it is not known.
	Date string `json:"date,omitempty"`
	// Region that the price is of; empty where it is not known.
	Region string `json:"region,omitempty"`
	// Confidence is how far it can be relied on; empty where that is not known.
	Confidence PriceConfidence `json:"confidence,omitempty"`
	// Low and High are the lowest and the highest price of the instance type that were seen in the region when the price was, in USD
	// per hour: for a spot price those of all zones. Both are 0 where no such range is known; prices without one don't vary.
	Low  float64 `json:"low,omitempty"`
	High float64 `json:"high,omitempty"`
}

// Repriced returns the basis of a price that was made of the one this is the basis of, by the function. It returns nil for a nil basis.
func (b *PriceBasis) Repriced(reprice func(usd float64) float64) *PriceBasis {
	if b == nil || b.Low == 0 && b.High == 0 || reprice == nil {
		return b
	}
	out := *b
	out.Low, out.High = reprice(b.Low), reprice(b.High)
	return &out
}
