package catalog

import (
	"strings"
	"testing"
)

// The built-in prices are dated, those of another region partly estimated, and those of a file are the user's.
func TestPriceFacts(t *testing.T) {
	c, err := EmbeddedAsSeen()
	if err != nil {
		t.Fatal(err)
	}
	there, err := InRegion(c, "eu-west-1", []Zone{{Name: "eu-west-1a"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	own := `{"schema": "drawknife-ec2-prices/1", "region": "r", "source": "our list", "asOf": "2026-08-01", "zones": [{"name": "a"}], "types": {}}`
	for _, c := range []struct {
		name           string
		of             *Catalog
		typ            string
		onDemand, spot PriceFacts
	}{
		{"newer list", c, "m5.large", PriceFacts{"2026-07-20", PriceDated}, PriceFacts{"2025-05-28", PriceDated}},
		{"older list", c, "c7gd.metal", PriceFacts{"2026-07-20", PriceDated}, PriceFacts{"2025-05-28", PriceDated}},
		{"another region", there, "m5.large", PriceFacts{"2025-05-28", PriceDated}, PriceFacts{"", PriceEstimated}},
	} {
		typ, ok := c.of.Lookup(c.typ)
		if !ok {
			t.Fatalf("%s: no %s", c.name, c.typ)
		}
		if got := c.of.OnDemandFacts(typ); got != c.onDemand {
			t.Errorf("%s: on-demand %v, want %v", c.name, got, c.onDemand)
		}
		if got := c.of.SpotFacts(typ); got != c.spot {
			t.Errorf("%s: spot %v, want %v", c.name, got, c.spot)
		}
	}
	p, err := LoadPrices(strings.NewReader(own))
	if err != nil {
		t.Fatal(err)
	}
	mine := Catalog{Sources: map[string]string{pricesSource: p.Source + ", " + p.AsOf}}
	if got := mine.OnDemandFacts(&Type{OnDemandFrom: pricesSource}); got != (PriceFacts{"2026-08-01", PriceGiven}) {
		t.Errorf("a file: %v", got)
	}
	if got := (&Catalog{}).SpotFacts(nil); got != (PriceFacts{}) {
		t.Errorf("no type: %v", got)
	}
}

// A range needs two prices; a zone without one says nothing.
func TestSpotRange(t *testing.T) {
	for _, c := range []struct {
		name      string
		typ       Type
		low, high float64
	}{
		{"none", Type{}, 0, 0},
		{"one price", Type{SpotUSD: []float64{0.2, 0, 0.2}}, 0, 0},
		{"of zones", Type{SpotUSD: []float64{0.3, 0, 0.2}}, 0.2, 0.3},
		{"stated", Type{SpotUSD: []float64{0.3, 0.3}, SpotLowUSD: 0.1, SpotHighUSD: 0.4}, 0.1, 0.4},
	} {
		if low, high := c.typ.SpotRange(); low != c.low || high != c.high {
			t.Errorf("%s: %g to %g, want %g to %g", c.name, low, high, c.low, c.high)
		}
	}
}

// What a file says of its prices is held to its shape.
func TestPriceFactsOfAFile(t *testing.T) {
	for facts, want := range map[string]string{
		`{"day": "2026-08-01", "kind": "current"}`: "",
		`{"kind": "guessed"}`:                      `priceFacts.x.kind: must be current, given, dated or estimated, is "guessed"`,
		`{"day": "May", "kind": "given"}`:          `priceFacts.x.day: must be a day such as 2026-08-01, is "May"`,
	} {
		c, err := Parse([]byte(`{"schema": "` + Schema + `", "region": "r", "zones": [], "sources": {"x": "s"}, "priceFacts": {"x": ` + facts + `}, "types": []}`))
		switch {
		case want == "" && (err != nil || c.PriceFacts["x"].Day != "2026-08-01"):
			t.Errorf("%s: %v", facts, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%s: %v, want %s", facts, err, want)
		}
	}
}
