package catalog

import (
	"fmt"
	"maps"
	"math"
	"slices"
)

// Keys of Sources in a catalogue that SteadySpot made.
const (
	sourceSteady = "steady"
	sourceRaised = "raised"
)

// SteadySpot returns the catalogue with spot prices that are useful for longer than the day on which they were seen. It is for old prices
// of a single day, such as the built-in ones; current prices and the user's stay as they are.
//
// Each zone of a type gets the median of the prices seen in the type's zones. If the median's share of the on-demand price is below the
// lower quartile of all types, it is raised to that quartile: many of these types were new when the prices were seen, and in low demand.
// Such prices are marked as estimates, in EstimatedSource and the facts of their source. No price exceeds the on-demand price, because
// on-demand instances can replace spot instances. SpotRange still returns the range that was seen.
func SteadySpot(c *Catalog) *Catalog {
	if c == nil {
		return nil
	}
	floor := lowerQuartile(c)
	out := *c
	out.Types, out.Sources, out.PriceFacts = slices.Clone(c.Types), maps.Clone(c.Sources), maps.Clone(c.PriceFacts)
	for i := range out.Types {
		t := &out.Types[i]
		facts := c.SpotFacts(t)
		share := medianShare(t)
		if share == 0 || facts.Kind != PriceDated {
			continue
		}
		key, source, kind := sourceSteady, "median of zones; "+c.SpotSource(t), PriceDated
		if share < floor {
			share, key, kind = floor, sourceRaised, PriceEstimated
			source = fmt.Sprintf(estimateMark+"%.0f%% of the on-demand price, the lower quartile of types; seen for less, %s", floor*100, c.SpotSource(t))
		}
		out.Sources[key], out.PriceFacts[key] = source, PriceFacts{Day: facts.Day, Kind: kind}
		low, high := t.SpotRange()
		t.SpotUSD = slices.Repeat([]float64{math.Round(min(share, 1)*t.OnDemandUSD*1e6) / 1e6}, max(len(t.Zones), 1))
		t.SpotFrom, t.SpotLowUSD, t.SpotHighUSD = key, low, max(high, t.SpotUSD[0])
		if low == 0 {
			t.SpotLowUSD, t.SpotHighUSD = 0, 0
		}
	}
	return &out
}

// medianShare is the median of the seen spot prices divided by the on-demand price; 0 if one of them is unknown.
func medianShare(t *Type) float64 {
	known := slices.DeleteFunc(slices.Clone(t.SpotUSD), func(p float64) bool { return !isPrice(p) })
	if len(known) == 0 || !isPrice(t.OnDemandUSD) || t.OnDemandTenancy != "" {
		return 0
	}
	return median(known) / t.OnDemandUSD
}

// lowerQuartile returns the lower quartile of the shares of all types with dated spot prices; 0 for none.
func lowerQuartile(c *Catalog) float64 {
	var shares []float64
	for i := range c.Types {
		if share := medianShare(&c.Types[i]); share > 0 && c.SpotFacts(&c.Types[i]).Kind == PriceDated {
			shares = append(shares, share)
		}
	}
	if len(shares) == 0 {
		return 0
	}
	slices.Sort(shares)
	return shares[len(shares)/4]
}
