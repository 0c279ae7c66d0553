package catalog

import (
	"cmp"
	"strings"
	"time"
)

// PriceKind says how prices are known. Values are stable, and equal those of cloudprovider.PriceConfidence.
type PriceKind string

const (
	// PriceCurrent: AWS returned the prices, and they are current.
	PriceCurrent PriceKind = "current"
	// PriceGiven: the user provided them in a file.
	PriceGiven PriceKind = "given"
	// PriceDated: they come from a public list of a past day.
	PriceDated PriceKind = "dated"
	// PriceEstimated: they are computed from other prices.
	PriceEstimated PriceKind = "estimated"
)

// PriceFacts say how reliable the prices of a source are.
type PriceFacts struct {
	// Day of the prices, "2026-07-20"; empty if unknown.
	Day string `json:"day,omitempty"`
	// Kind says how the prices are known.
	Kind PriceKind `json:"kind"`
}

// OnDemandFacts say how reliable the type's on-demand price is. If a source is not in Catalog.PriceFacts, the user provided its prices, and
// their day is taken from the end of its text.
func (c *Catalog) OnDemandFacts(t *Type) PriceFacts {
	if t == nil {
		return PriceFacts{}
	}
	return c.factsOf(t.OnDemandFrom)
}

// SpotFacts say how reliable the type's spot prices are; see OnDemandFacts.
func (c *Catalog) SpotFacts(t *Type) PriceFacts {
	if t == nil {
		return PriceFacts{}
	}
	return c.factsOf(cmp.Or(t.SpotFrom, defaultSpotSource))
}

func (c *Catalog) factsOf(key string) PriceFacts {
	if facts, ok := c.PriceFacts[key]; ok {
		return facts
	}
	return PriceFacts{Day: dayAtEnd(c.Sources[key]), Kind: PriceGiven}
}

// dayAtEnd returns the day at the end of a source's text, as in "price list, 2026-07-20", or "" if there is none.
func dayAtEnd(source string) string {
	last := source[strings.LastIndexAny(source, " ,")+1:]
	if _, err := time.Parse(time.DateOnly, last); err != nil {
		return ""
	}
	return last
}

// SpotRange returns the lowest and the highest spot price of the type seen in the region, USD per hour, or 0 if fewer than two prices are
// known, or if they are equal.
func (t *Type) SpotRange() (low, high float64) {
	low, high = t.SpotLowUSD, t.SpotHighUSD
	if low == 0 && high == 0 {
		for _, price := range t.SpotUSD {
			if price > 0 && (low == 0 || price < low) {
				low = price
			}
			high = max(high, price)
		}
	}
	if low == high {
		return 0, 0
	}
	return low, high
}

func (f PriceFacts) check(k *checker, path string) {
	switch f.Kind {
	case PriceCurrent, PriceGiven, PriceDated, PriceEstimated:
	default:
		k.fail(path+".kind", "must be current, given, dated or estimated, is %q", f.Kind)
	}
	if _, err := time.Parse(time.DateOnly, f.Day); f.Day != "" && err != nil {
		k.fail(path+".day", "must be a day such as 2026-08-01, is %q", f.Day)
	}
}
