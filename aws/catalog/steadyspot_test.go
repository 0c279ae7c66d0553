package catalog

import (
	"math"
	"reflect"
	"slices"
	"testing"
)

// Steady prices are the median of zones, raised to the lower quartile of types, and never above on demand; what was seen stays the range.
func TestSteadySpot(t *testing.T) {
	c := &Catalog{
		Region: "r", Zones: []Zone{{Name: "a"}, {Name: "b"}, {Name: "c"}}, Sources: map[string]string{"b": "seen, 2025-05-28"},
		PriceFacts: map[string]PriceFacts{"b": {Day: "2025-05-28", Kind: PriceDated}},
	}
	add := func(name string, seen ...float64) {
		c.Types = append(c.Types, Type{Name: name, OnDemandUSD: 1, SpotUSD: seen, Zones: []int{0, 1, 2}})
	}
	add("dear", 0.9, 1.5, 2)
	add("new", 0.10, 0.11, 0.12)
	add("odd", 0.05, 0.4, 0.5)
	add("plain", 0.3, 0.3, 0.3)
	add("tail", 0.2)
	add("unknown")
	got := SteadySpot(c)
	for name, want := range map[string]struct {
		price, low, high float64
		kind             PriceKind
	}{
		"dear":  {1, 0.9, 2, PriceDated},
		"new":   {0.2, 0.10, 0.2, PriceEstimated}, // the quartile of 0.11, 0.2, 0.3, 0.4, 1.5
		"odd":   {0.4, 0.05, 0.5, PriceDated},
		"plain": {0.3, 0, 0, PriceDated},
		"tail":  {0.2, 0, 0, PriceDated},
	} {
		typ, _ := got.Lookup(name)
		low, high := typ.SpotRange()
		facts := got.SpotFacts(typ)
		if !slices.Equal(typ.SpotUSD, []float64{want.price, want.price, want.price}) || low != want.low || high != want.high || facts != (PriceFacts{"2025-05-28", want.kind}) {
			t.Errorf("%s: %v, from %v to %v, %v; want %+v", name, typ.SpotUSD, low, high, facts, want)
		}
		if EstimatedSource(got.SpotSource(typ)) != (want.kind == PriceEstimated) {
			t.Errorf("%s: source is %q", name, got.SpotSource(typ))
		}
	}
	if typ, _ := got.Lookup("unknown"); typ.SpotUSD != nil {
		t.Errorf("a type without spot prices has %v", typ.SpotUSD)
	}
	if before, _ := c.Lookup("new"); before.SpotUSD[0] != 0.10 || len(c.Sources) != 1 {
		t.Errorf("the original was changed: %v, %v", before.SpotUSD, c.Sources)
	}
	c.PriceFacts["b"] = PriceFacts{Kind: PriceGiven}
	if typ, _ := SteadySpot(c).Lookup("new"); !slices.Equal(typ.SpotUSD, []float64{0.10, 0.11, 0.12}) {
		t.Errorf("the user's prices became %v", typ.SpotUSD)
	}
	if SteadySpot(nil) != nil {
		t.Error("there is a catalogue of none")
	}
}

// Embedded has steady prices: of these none is left below the quartile, and the catalogue is one that New takes.
func TestSteadySpotOfBuiltIn(t *testing.T) {
	c, err := EmbeddedAsSeen()
	if err != nil {
		t.Fatal(err)
	}
	steady, err := Embedded()
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(SteadySpot(c), steady) {
		t.Error("the steady prices of what was seen are not those that are built in")
	}
	if SteadySpot(steady) != steady {
		t.Error("steady prices were changed once more")
	}
	if _, err := New(*steady); err != nil {
		t.Fatal(err)
	}
	below, raised, all := 0, 0, 0
	for i := range steady.Types {
		was, is := &c.Types[i], &steady.Types[i]
		if len(was.SpotUSD) == 0 || was.OnDemandTenancy != "" {
			continue
		}
		all++
		if was.SpotUSD[0]/was.OnDemandUSD < 0.15 {
			below++
		}
		if steady.SpotFacts(is).Kind == PriceEstimated {
			raised++
		}
		if share := is.SpotUSD[0] / is.OnDemandUSD; share < 0.25 || share > 1 {
			t.Errorf("%s: spot is %.0f%% of on-demand", is.Name, share*100)
		}
	}
	if below < 150 || math.Abs(float64(raised)/float64(all)-0.25) > 0.01 {
		t.Errorf("of %d types %d were below 15%%, and %d are raised", all, below, raised)
	}
}
