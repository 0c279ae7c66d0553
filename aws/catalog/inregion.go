package catalog

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// Keys of Sources in a catalogue that InRegion made.
const (
	sourceRegional  = "regional"
	sourceEstimated = "estimated"
)

// InRegion returns the catalogue for another region, for programs that can't ask AWS. Every type is offered in all the given zones.
//
// On-demand prices come from RegionalPrices. A type that has no price in RegionalPrices gets an estimate (see EstimatedPrice): its price in
// c's region, multiplied by the price ratio of its family in that region, or else by the ratio of the median type. All spot prices are
// estimates, computed from the median over c's zones. Types that the table lists only for other regions are left out, because the region
// does not sell them. Types of families without any price in the region are also left out, except types that nodes in the region have:
// present[name] is true for these types. For a region without built-in prices all types are kept, with c's prices as estimates.
//
// For c's own region it returns c. The error is a *FieldError if the zones are invalid, or if the built-in table can't be read.
func InRegion(c *Catalog, region string, zones []Zone, present map[string]bool) (*Catalog, error) {
	if c == nil {
		return nil, &FieldError{Field: "catalogue", Problem: "must be given: the hardware facts come from it"}
	}
	if region == c.Region {
		return c, nil
	}
	e, err := NewEstimator(c.Region, region)
	if err != nil {
		return nil, err
	}
	out := Catalog{Region: region, Zones: zones, Sources: map[string]string{"hardware": c.Sources["hardware"], sourceEstimated: e.Source()}}
	out.PriceFacts = map[string]PriceFacts{sourceEstimated: {Kind: PriceEstimated}}
	if e.there != nil {
		out.PriceFacts[sourceRegional] = PriceFacts{Day: e.there.AsOf.Format(time.DateOnly), Kind: PriceDated}
		out.Sources[sourceRegional] = e.there.Source + ", " + e.there.AsOf.Format(time.DateOnly)
	}
	everywhere := make([]int, len(zones))
	for i := range everywhere {
		everywhere[i] = i
	}
	for i := range c.Types {
		t := c.Types[i]
		if !e.sold(t.Name) && !present[t.Name] {
			continue
		}
		e.price(&t)
		t.Zones, t.SpotUSD, t.SpotFrom = everywhere, e.spot(&c.Types[i], len(zones)), ""
		t.SpotInterruption = "" // the interruption frequency of one region says nothing about another region
		if t.SpotUSD != nil {
			low, high := c.Types[i].SpotRange()
			t.SpotFrom, t.SpotLowUSD, t.SpotHighUSD = sourceEstimated, e.Price(t.Name, low), e.Price(t.Name, high)
		}
		out.Types = append(out.Types, t)
	}
	return New(out)
}

// EstimatedPrice reports whether the type's on-demand price is an estimate that InRegion made.
func EstimatedPrice(t *Type) bool { return t != nil && t.OnDemandFrom == sourceEstimated }

// EstimatedSource reports whether a price with this source, as returned by OnDemandSource and SpotSource, is an estimate.
func EstimatedSource(source string) bool { return strings.HasPrefix(source, estimateMark) }

// estimateMark is the prefix of the sources of estimated prices.
const estimateMark = "estimated: "

// Estimator estimates prices of one region from the prices of another region, by the prices of the types that both regions sell. It is not
// changed after NewEstimator, so goroutines may share it.
type Estimator struct {
	from, region string
	// The field there has the built-in prices of the region whose prices are estimated. It is nil if the built-in table lacks the region.
	there    *Regional
	families map[string]float64
	median   float64
}

// NewEstimator makes an estimator that computes the prices of one region (the second parameter) from the prices of another region (the
// first parameter). It returns an error if the built-in table can't be read.
func NewEstimator(from, region string) (*Estimator, error) {
	e := &Estimator{from: from, region: region, families: map[string]float64{}, median: 1}
	here, err := RegionalPrices(from)
	if err != nil {
		return nil, err
	}
	if e.there, err = RegionalPrices(region); err != nil || here == nil || e.there == nil {
		return e, err
	}
	var all []float64
	byFamily := map[string][]float64{}
	for name, price := range e.there.OnDemand {
		if base := here.OnDemand[name]; isPrice(base) {
			all = append(all, price/base)
			byFamily[familyOf(name)] = append(byFamily[familyOf(name)], price/base)
		}
	}
	for family, ratios := range byFamily {
		e.families[family] = median(ratios)
	}
	if len(all) > 0 {
		e.median = median(all)
	}
	return e, nil
}

// Price estimates the hourly price of the type called name from price, its hourly price in the other region.
func (e *Estimator) Price(name string, price float64) float64 {
	ratio, ok := e.families[familyOf(name)]
	if !ok {
		ratio = e.median
	}
	return math.Round(price*ratio*1e6) / 1e6
}

// Source says, for people, how estimates are made.
func (e *Estimator) Source() string {
	if e.there == nil {
		return fmt.Sprintf(estimateMark+"the price of %s, no price of %s is built in", e.from, e.region)
	}
	return fmt.Sprintf(estimateMark+"the price of %s times what the type's family, or else the median type, costs in %s in proportion", e.from, e.region)
}

// sold reports whether the region sells the type, as far as the built-in prices show.
func (e *Estimator) sold(name string) bool {
	if e.there == nil {
		return true
	}
	if e.there.OnDemand[name] > 0 {
		return true
	}
	_, family := e.families[familyOf(name)]
	return family && !e.there.Elsewhere[name]
}

func (e *Estimator) price(t *Type) {
	switch {
	case e.there != nil && e.there.OnDemand[t.Name] > 0:
		t.OnDemandUSD, t.OnDemandFrom, t.OnDemandTenancy = e.there.OnDemand[t.Name], sourceRegional, ""
	case isPrice(t.OnDemandUSD):
		t.OnDemandUSD, t.OnDemandFrom = e.Price(t.Name, t.OnDemandUSD), sourceEstimated
	}
}

// spot returns the estimated spot price of each zone, or nil if the type has no known spot price or there are no zones.
func (e *Estimator) spot(t *Type, zones int) []float64 {
	known := slices.DeleteFunc(slices.Clone(t.SpotUSD), func(p float64) bool { return !isPrice(p) })
	if len(known) == 0 || zones == 0 {
		return nil
	}
	return slices.Repeat([]float64{e.Price(t.Name, median(known))}, zones)
}

func familyOf(name string) string {
	family, _, _ := strings.Cut(name, ".")
	return family
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}
