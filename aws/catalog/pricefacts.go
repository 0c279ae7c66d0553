package catalog

import (
	"cmp"
	"strings"
	"time"
)

// PriceKind says how prices came to be known. Values are stable, and those of cloudprovider.PriceConfidence.
type PriceKind string

const (
	// PriceCurrent: AWS gave the prices, to plan with.
	PriceCurrent PriceKind = "current"
	// PriceGiven: the user gave them, in a file.
	PriceGiven PriceKind = "given"
	// PriceDated: they are from a public list of some day.
	PriceDated PriceKind = "dated"
	// PriceEstimated: they are computed from others.
	PriceEstimated PriceKind = "estimated"
)

// PriceFacts say how far the prices of a source can be relied on.
type PriceFacts struct {
	// Day of the prices, "2026-07-20"; empty where it is not known.
	Day string `json:"day,omitempty"`
	// Kind says how they came to be known.
	Kind PriceKind `json:"kind"`
}

// OnDemandFacts say how far the type's on-demand price can be relied on. A source that Catalog.PriceFacts does not have is the
// user's, of the day that its text ends with.
func (c *Catalog) OnDemandFacts(t *Type) PriceFacts {
	if t == nil {
		return PriceFacts{}
	}
	return c.factsOf(t.OnDemandFrom)
}

// SpotFacts say how far the type's spot prices can be relied on; see OnDemandFacts.
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

// dayAtEnd is the day that a source's text ends with, as in "price list, 2026-07-20"; empty without one.
func dayAtEnd(source string) string {
	last := source[strings.LastIndexAny(source, " ,")+1:]
	if _, err := time.Parse(time.DateOnly, last); err != nil {
		return ""
	}
	return last
}

// SpotRange is the lowest and the highest spot price of the type that was seen in the region, USD per hour; 0 where fewer than two
// prices are known, or where they don't differ.
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
