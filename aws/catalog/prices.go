package catalog

import (
	"fmt"
	"io"
	"slices"
)

// PricesSchema is the value of "schema" in a prices file.
const PricesSchema = "drawknife-ec2-prices/1"

// Prices is a prices file: zones and prices, which EC2's description of its instance types does not contain. It is one JSON object:
//
//	{
//	  "schema": "drawknife-ec2-prices/1",
//	  "region": "eu-west-1",
//	  "source": "our price list",
//	  "asOf": "2026-08-01",
//	  "zones": [{"name": "eu-west-1a", "id": "euw1-az1"}, {"name": "eu-west-1b", "id": "euw1-az2"}],
//	  "types": {
//	    "m5.large": {"onDemand": 0.107, "spot": {"eu-west-1a": 0.041}},
//	    "p5.48xlarge": {"onDemand": 60.5, "zones": ["eu-west-1b"]}
//	  }
//	}
//
// Types that EC2's answer does not have are ignored: a price list usually covers more types than needed.
type Prices struct {
	// Schema must be PricesSchema.
	Schema string `json:"schema"`
	// Region of the prices and zones.
	Region string `json:"region"`
	// Source says where the prices come from, for people. It is required, because nobody can judge a price of unknown origin.
	Source string `json:"source"`
	// AsOf is the day of the prices, for people, such as "2026-08-01". Optional.
	AsOf string `json:"asOf,omitempty"`
	// Zones of the region; at least one. The ID is optional.
	Zones []Zone `json:"zones"`
	// Types by name. A missing type is offered in no zone.
	Types map[string]TypePrices `json:"types"`
}

// TypePrices are the zones and prices of one instance type.
type TypePrices struct {
	// OnDemand is the on-demand price in USD per hour; 0 or absent if it is not sold on demand.
	OnDemand float64 `json:"onDemand,omitempty"`
	// Dedicated is the on-demand price of a Dedicated Instance in USD per hour; 0 or absent if unknown. Only package prices reads
	// Dedicated.
	Dedicated float64 `json:"dedicated,omitempty"`
	// Local are on-demand prices in USD per hour of zones that have their own, such as Local Zones, by zone name. Only package prices reads
	// Local.
	Local map[string]float64 `json:"local,omitempty"`
	// Spot prices in USD per hour by zone name. A missing zone has no spot offering.
	Spot map[string]float64 `json:"spot,omitempty"`
	// Zones that offer the type, by name; absent means all zones of the file.
	Zones []string `json:"zones,omitempty"`
}

// LoadPrices reads a prices file. It is strict about the format: an unknown field or a wrong schema is an error. Zones and prices of single
// types are not checked here.
func LoadPrices(r io.Reader) (*Prices, error) {
	data, err := readAll(r, "prices")
	if err != nil {
		return nil, err
	}
	return parsePrices(data)
}

// parsePrices parses the text of a prices file strictly. Zones and prices of single types are checked by apply, for the types that exist.
func parsePrices(data []byte) (*Prices, error) {
	var p Prices
	if err := decodeStrict(data, &p); err != nil {
		return nil, fmt.Errorf("reading the prices: %w", err)
	}
	if p.Schema != PricesSchema {
		return nil, &FieldError{Field: "schema", Problem: fmt.Sprintf("must be %q, is %q", PricesSchema, p.Schema)}
	}
	if p.Source == "" {
		return nil, &FieldError{Field: "source", Problem: "must say where the prices come from"}
	}
	if len(p.Zones) == 0 {
		return nil, &FieldError{Field: "zones", Problem: "must name at least one zone"}
	}
	return &p, nil
}

// apply sets the zones and prices of t.
func (p *Prices) apply(t *Type, sourceKey string) error {
	prices, ok := p.Types[t.Name]
	if !ok {
		return nil
	}
	if err := p.applyZones(t, prices.Zones); err != nil {
		return err
	}
	if prices.OnDemand != 0 {
		t.OnDemandUSD, t.OnDemandFrom = prices.OnDemand, sourceKey
	}
	if len(prices.Spot) == 0 {
		return nil
	}
	t.SpotUSD, t.SpotFrom = make([]float64, len(t.Zones)), sourceKey
	found := 0
	for i, zone := range t.Zones {
		if price, ok := prices.Spot[p.Zones[zone].Name]; ok {
			t.SpotUSD[i] = price
			found++
		}
	}
	if found != len(prices.Spot) {
		return &FieldError{Type: t.Name, Field: "spot", Problem: "must name only zones that offer the type"}
	}
	return nil
}

func (p *Prices) applyZones(t *Type, names []string) error {
	t.Zones = make([]int, 0, len(p.Zones))
	for i, zone := range p.Zones {
		if names == nil || slices.Contains(names, zone.Name) {
			t.Zones = append(t.Zones, i)
		}
	}
	if names != nil && len(t.Zones) != len(names) {
		return &FieldError{Type: t.Name, Field: "zones", Problem: "must name zones of the file, each once"}
	}
	return nil
}
