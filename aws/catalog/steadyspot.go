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
// of a single day, such as the built-in ones. It does not change current prices or prices that the user provided.
//
// Each zone of a type has the median of the prices seen in its zones. A median whose share of the on-demand price is below the lower
// quartile of all types is raised to that quartile: many of these types had just been launched, when demand was low. The changed prices
// count as estimates: see EstimatedSource and Catalog.PriceFacts. No price is above the on-demand price, because on-demand instances can
// always replace spot instances. SpotRange still returns the prices that were seen. If no price changes, the catalogue itself is returned.
func SteadySpot(c *Catalog) *Catalog {
	if c == nil {
		return nil
	}
	floor := lowerQuartile(c)
	if floor == 0 {
		return c
	}
	out := *c
	out.Types, out.Sources, out.PriceFacts = slices.Clone(c.Types), maps.Clone(c.Sources), maps.Clone(c.PriceFacts)
	for i := range out.Types {
		t := &out.Types[i]
		facts, share := c.SpotFacts(t), medianShare(t)
		if share == 0 || !isSeen(c, t) {
			continue
		}
		key, source, kind := sourceSteady, "median of zones; "+c.SpotSource(t), PriceDated
		if share < floor {
			share, key, kind = floor, sourceRaised, PriceEstimated
			source = fmt.Sprintf(estimateMark+"%.0f%% of the on-demand price, the lower quartile of all types, as the type's own old prices are lower; %s", floor*100, c.SpotSource(t))
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

// isSeen reports whether the type's spot prices were observed on a past day.
func isSeen(c *Catalog, t *Type) bool {
	return c.SpotFacts(t).Kind == PriceDated && t.SpotFrom != sourceSteady
}

// medianShare returns the median of the type's known spot prices as a share of its on-demand price, or 0 if either is unknown.
func medianShare(t *Type) float64 {
	known := slices.DeleteFunc(slices.Clone(t.SpotUSD), func(p float64) bool { return !isPrice(p) })
	if len(known) == 0 || !isPrice(t.OnDemandUSD) || t.OnDemandTenancy != "" {
		return 0
	}
	return median(known) / t.OnDemandUSD
}

// lowerQuartile returns the lower quartile of medianShare over all types with dated spot prices, or 0 if there are no such types.
func lowerQuartile(c *Catalog) float64 {
	var shares []float64
	for i := range c.Types {
		if share := medianShare(&c.Types[i]); share > 0 && isSeen(c, &c.Types[i]) {
			shares = append(shares, share)
		}
	}
	if len(shares) == 0 {
		return 0
	}
	slices.Sort(shares)
	return shares[len(shares)/4]
}
