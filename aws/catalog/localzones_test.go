package catalog_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/drawknife/drawknife/aws/catalog"
)

// The built-in prices of Local Zones are those of their own region, and higher than the region's.
func TestLocalZonePrices(t *testing.T) {
	for _, region := range []string{"us-west-2", "us-east-1", "eu-central-1"} {
		groups, err := catalog.LocalZonePrices(region)
		if err != nil || len(groups) == 0 {
			t.Fatalf("%s: %v, %v", region, groups, err)
		}
		here, err := catalog.RegionalPrices(region)
		if err != nil {
			t.Fatal(err)
		}
		higher, compared := 0, 0
		for _, group := range slices.Sorted(maps.Keys(groups)) {
			list := groups[group]
			if !strings.HasPrefix(group, region+"-") || len(list.OnDemand) == 0 || list.AsOf != here.AsOf || list.Source == here.Source {
				t.Errorf("%s has %d prices of %s from %q", group, len(list.OnDemand), list.AsOf, list.Source)
			}
			for name, usd := range list.OnDemand {
				if regional := here.OnDemand[name]; regional > 0 {
					if compared++; usd >= regional {
						higher++
					}
				}
			}
		}
		if compared == 0 || higher < compared*9/10 {
			t.Errorf("%s: %d of %d prices in Local Zones are at least those of the region", region, higher, compared)
		}
	}
	for _, region := range []string{"", "us-west", "eu-west-1"} {
		if groups, err := catalog.LocalZonePrices(region); err != nil || len(groups) > 0 {
			t.Errorf("%q has %d groups, %v", region, len(groups), err)
		}
	}
}
