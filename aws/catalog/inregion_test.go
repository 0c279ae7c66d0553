package catalog_test

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/drawknife/drawknife/aws/catalog"
)

// Another region has its own zones, its own prices, and estimates where there are none; types that it does not sell are left out
// unless they are there.
func TestInRegion(t *testing.T) {
	c, err := catalog.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	zones := []catalog.Zone{{Name: "ap-southeast-1a"}, {Name: "ap-southeast-1b"}}
	there, err := catalog.InRegion(c, "ap-southeast-1", zones, map[string]bool{"a1.large": true, "p6-b200.48xlarge": true})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(zones, there.Zones); diff != "" || there.Region != "ap-southeast-1" {
		t.Errorf("region %s, zones (-want +got):\n%s", there.Region, diff)
	}
	table, err := catalog.RegionalPrices("ap-southeast-1")
	if err != nil {
		t.Fatal(err)
	}
	priced, estimated := 0, 0
	for i := range there.Types {
		typ := &there.Types[i]
		home, _ := c.Lookup(typ.Name)
		switch {
		case table.OnDemand[typ.Name] > 0:
			priced++
			if typ.OnDemandUSD != table.OnDemand[typ.Name] || catalog.EstimatedPrice(typ) {
				t.Errorf("%s costs %g, estimated: %t", typ.Name, typ.OnDemandUSD, catalog.EstimatedPrice(typ))
			}
		case home.OnDemandUSD > 0:
			estimated++
			if !catalog.EstimatedPrice(typ) || typ.OnDemandUSD < home.OnDemandUSD*0.8 || typ.OnDemandUSD > home.OnDemandUSD*2 {
				t.Errorf("%s is estimated at %g, costs %g in us-east-1", typ.Name, typ.OnDemandUSD, home.OnDemandUSD)
			}
		}
		if len(typ.Zones) != 2 || there.OnDemandSource(typ) == "" && typ.OnDemandUSD > 0 {
			t.Errorf("%s: zones %v, source %q", typ.Name, typ.Zones, there.OnDemandSource(typ))
		}
	}
	if priced < 500 || estimated < 1 {
		t.Errorf("%d priced, %d estimated", priced, estimated)
	}
	if m, ok := there.Lookup("t3.medium"); !ok || m.OnDemandUSD != 0.0528 {
		t.Errorf("t3.medium is %+v", m)
	}
	// Sold there neither as far as the table knows, nor by its family.
	for _, name := range []string{"a1.medium", "p6-b300.48xlarge"} {
		if _, ok := there.Lookup(name); ok && table.OnDemand[name] == 0 {
			t.Errorf("%s is sold", name)
		}
	}
	for _, name := range []string{"a1.large", "p6-b200.48xlarge"} {
		if _, ok := there.Lookup(name); !ok {
			t.Errorf("%s is there and is not known", name)
		}
	}
}

// A spot price is as far from the on-demand price as at home.
func TestInRegionSpot(t *testing.T) {
	c, err := catalog.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	there, err := catalog.InRegion(c, "eu-west-1", []catalog.Zone{{Name: "eu-west-1a"}, {Name: "eu-west-1b"}, {Name: "eu-west-1c"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	m, _ := there.Lookup("m5.large")
	if len(m.SpotUSD) != 3 || m.SpotUSD[0] != m.SpotUSD[2] || m.SpotUSD[0] > m.OnDemandUSD/2 || there.SpotSource(m) == "" {
		t.Errorf("spot %v of %g from %q", m.SpotUSD, m.OnDemandUSD, there.SpotSource(m))
	}
}

// Of China no price is built in: those of the catalogue are told as estimates. At home nothing changes, and zones must be zones.
func TestInRegionWithoutPrices(t *testing.T) {
	c, err := catalog.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	there, err := catalog.InRegion(c, "cn-north-1", []catalog.Zone{{Name: "cn-north-1a"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if m, _ := there.Lookup("m5.large"); math.Abs(m.OnDemandUSD-0.096) > 1e-9 || !catalog.EstimatedPrice(m) || len(there.Types) != len(c.Types) {
		t.Errorf("%+v of %d types", m, len(there.Types))
	}
	if same, err := catalog.InRegion(c, c.Region, nil, nil); same != c || err != nil {
		t.Errorf("at home: %v", err)
	}
	if _, err := catalog.InRegion(c, "eu-west-1", []catalog.Zone{{Name: "a"}, {Name: "a"}}, nil); err == nil {
		t.Error("a zone twice is taken")
	}
}
