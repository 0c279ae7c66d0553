package prices

import (
	"github.com/drawknife/drawknife/aws/catalog"
	"github.com/drawknife/drawknife/cloudprovider"
)

// Regional returns the built-in on-demand prices of a region, with their day, or nil for regions without such prices, for example the
// regions in China. They are older than the catalogue's own prices: see docs/catalog.md.
func Regional(region string) (*List, error) {
	regional, err := catalog.RegionalPrices(region)
	if err != nil || regional == nil {
		return nil, err
	}
	list := &List{Source: regional.Source, AsOf: regional.AsOf, Confidence: cloudprovider.PriceDated, OnDemand: make(map[string]Price, len(regional.OnDemand))}
	for name, amount := range regional.OnDemand {
		list.OnDemand[name] = Price{PerHour: amount}
	}
	return list, list.check()
}
