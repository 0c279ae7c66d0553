package main

import (
	"bytes"
	"maps"
	"os"
	"strings"
	"testing"
)

// Of a price list only on-demand prices for Linux with shared tenancy count, of the region alone.
func TestOfferFile(t *testing.T) {
	list, err := readOfferFile("testdata/offers.json", "us-east-1")
	if err != nil {
		t.Fatal(err)
	}
	if want := map[string]float64{"m5.large": 0.096, "m5.metal": 4.608}; list.asOf != "2026-08-01" || !maps.Equal(list.onDemand, want) {
		t.Errorf("of %s: %v, want %v", list.asOf, list.onDemand, want)
	}
	if _, err := readOfferFile("testdata/offers.json", "eu-west-1"); err == nil || !strings.Contains(err.Error(), `no on-demand prices of region "eu-west-1"`) {
		t.Errorf("another region: %v", err)
	}
}

// Prices of the region's Local Zones are apart from those of the region, and a table of their own.
func TestOfferFileOfLocalZones(t *testing.T) {
	var out bytes.Buffer
	if err := run([]string{"-local-zones", "-price-list", "testdata/offers.json"}, &out); err != nil {
		t.Fatal(err)
	}
	if want := "2026-08-01\tus-east-1-bos-1\nm5.large\t0.12\n"; out.String() != want {
		t.Errorf("is\n%swant\n%s", out.String(), want)
	}
	good, err := os.ReadFile("testdata/offers.json")
	if err != nil {
		t.Fatal(err)
	}
	twice := strings.Replace(string(good), `"AAAR" : {"AAAR`, `"AAAM" : {"AAAM`, 1)
	twice = strings.Replace(twice, `"AAAW" : {"sku"`, `"AAAM" : {"sku" : "AAAM", "productFamily" : "Compute Instance", "attributes" : {"instanceType" : "m5.large", "regionCode" : "us-east-1-bos-1"}},
    "AAAW" : {"sku"`, 1)
	twice = strings.Replace(twice, `"AAAW" : {"AAAW`, `"AAAM" : {"AAAM.x" : {"priceDimensions" : {"x" : {"unit" : "Hrs", "pricePerUnit" : {"USD" : "0.1300000000"}}}}},
      "AAAW" : {"AAAW`, 1)
	if list, err := parseOfferFile(strings.NewReader(twice), "us-east-1"); err == nil {
		t.Errorf("two prices in a Local Zone: read as %v", list.local)
	}
	// A list without any has no table.
	list, err := parseOfferFile(strings.NewReader(strings.ReplaceAll(string(good), "us-east-1-bos-1", "us-east-1-wl1-bos1")), "us-east-1")
	if err != nil {
		t.Fatal(err)
	}
	if text, err := list.localTable(); err == nil {
		t.Errorf("no Local Zones: %s", text)
	}
}

// They go before all other prices of a catalogue, with their source.
func TestCatalogueWithOfferFile(t *testing.T) {
	text := generate(t, "-price-list", "testdata/offers.json", "-keep-prices")
	for _, want := range []string{`"c":"AWS price list, 2026-08-01"`, `"odUSD":0.096,"odFrom":"c","spotUSD":[0.2,0.3]`} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in %s", want, text)
		}
	}
}

func TestOfferFileRefuses(t *testing.T) {
	good, err := os.ReadFile("testdata/offers.json")
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string][2]string{
		"not a number":      {`"0.0960000000"`, `"free"`},
		"no price":          {`"0.0960000000"`, `"0.0000000000"`},
		"another unit":      {`"Inf", "unit" : "Hrs"`, `"Inf", "unit" : "Quantity"`},
		"products, no list": {`"products" : {`, `"products" : [], "x" : {`},
		"cut off":           {`"attributesList" : { }`, `"attributesList" : {`},
		"no day":            {`"2026-08-01T22:10:05Z"`, `"August"`},
	} {
		text := strings.Replace(string(good), change[0], change[1], 1)
		if text == string(good) {
			t.Fatalf("%s: nothing was changed", name)
		}
		if list, err := parseOfferFile(strings.NewReader(text), "us-east-1"); err == nil {
			t.Errorf("%s: read as %v", name, list.onDemand)
		}
	}
}
