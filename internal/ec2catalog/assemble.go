package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/drawknife/drawknife/aws/catalog"
)

// Keys of Catalog.Sources. The first is the key of ec2instances.info, the source of spot prices unless an entry names another.
const (
	quotesSource   = "b"
	offersSource   = "c"
	hardwareSource = "hardware"
	branchSource   = "branchENIs"
)

// assemble combines the facts about all types that the region offers. If builtIn is not nil, its on-demand prices from other sources have
// priority over the quotes.
func assemble(hw *hardware, quotes *priceList, builtIn *catalog.Catalog) (*catalog.Catalog, error) {
	described, err := describe(hw)
	if err != nil {
		return nil, err
	}
	c := catalog.Catalog{
		Region: hw.region,
		Zones:  described.Zones,
		Sources: map[string]string{
			hardwareSource: "DescribeInstanceTypes / DescribeInstanceTypeOfferings dump, moto " + hw.version,
			quotesSource:   strings.TrimSuffix("on-demand and spot price snapshot, "+quotes.asOf, ", "),
			branchSource:   described.Sources[branchSource],
		},
		Types: described.Types,
	}
	for i := range c.Types {
		t := &c.Types[i]
		t.Accelerators.Inference = slices.DeleteFunc(t.Accelerators.Inference, func(a catalog.Accelerator) bool {
			return isNeuron(t, a.Name)
		})
		q := quotes.types[t.Name]
		if q.onDemand != 0 {
			t.OnDemandUSD, t.OnDemandFrom = q.onDemand, quotesSource
		}
		// The type may no longer be sold in one of the zones with a spot price. The list is as long as the zones, so the highest prices are
		// dropped.
		t.SpotUSD = q.spot[:min(len(q.spot), len(t.Zones))]
		t.SpotInterruption = q.interruption
		if builtIn != nil {
			keepPrice(&c, t, builtIn)
		}
		if usd := quotes.offers.price(t.Name); usd > 0 {
			t.OnDemandUSD, t.OnDemandFrom, t.OnDemandTenancy = usd, offersSource, ""
			c.Sources[offersSource] = "AWS price list, " + quotes.offers.asOf
		}
	}
	return catalog.New(c)
}

// describe parses moto's records with package catalog, with a list of zones and without prices.
func describe(hw *hardware) (*catalog.Catalog, error) {
	var answer struct{ InstanceTypes []json.RawMessage }
	prices := catalog.Prices{
		Schema: catalog.PricesSchema, Region: hw.region, Source: "none", Zones: hw.zones,
		Types: make(map[string]catalog.TypePrices, len(hw.offered)),
	}
	for _, name := range slices.Sorted(maps.Keys(hw.offered)) {
		answer.InstanceTypes = append(answer.InstanceTypes, hw.records[name])
		prices.Types[name] = catalog.TypePrices{Zones: hw.offered[name]}
	}
	answerText, err := json.Marshal(answer)
	if err != nil {
		return nil, err
	}
	pricesText, err := json.Marshal(prices)
	if err != nil {
		return nil, err
	}
	return catalog.ParseDescribeInstanceTypes(bytes.NewReader(answerText), bytes.NewReader(pricesText))
}

// isNeuron reports whether a type has Neuron devices of this name. EC2 lists Inferentia twice, as a Neuron device and as an inference
// accelerator. The catalogue has each chip only once.
func isNeuron(t *catalog.Type, name string) bool {
	return slices.ContainsFunc(t.Accelerators.Neuron, func(a catalog.Accelerator) bool { return a.Name == name })
}

func keepPrice(c *catalog.Catalog, t *catalog.Type, builtIn *catalog.Catalog) {
	old, ok := builtIn.Lookup(t.Name)
	if !ok || old.OnDemandUSD == 0 || old.OnDemandFrom == quotesSource {
		return
	}
	t.OnDemandUSD, t.OnDemandFrom, t.OnDemandTenancy = old.OnDemandUSD, old.OnDemandFrom, old.OnDemandTenancy
	c.Sources[old.OnDemandFrom] = builtIn.Sources[old.OnDemandFrom]
}

// encode writes the catalogue's file: the head on the first line, then one type per line, so that versions can be compared.
func encode(c *catalog.Catalog) ([]byte, error) {
	head := struct {
		Schema  string            `json:"schema"`
		Region  string            `json:"region"`
		Zones   []catalog.Zone    `json:"zones"`
		Sources map[string]string `json:"sources"`
	}{catalog.Schema, c.Region, c.Zones, c.Sources}
	line, err := encodeLine(head)
	if err != nil {
		return nil, err
	}
	text := append(bytes.TrimSuffix(line, []byte("}")), `,"types":[`...)
	for i := range c.Types {
		if line, err = encodeLine(&c.Types[i]); err != nil {
			return nil, fmt.Errorf("instance type %q: %w", c.Types[i].Name, err)
		}
		if i > 0 {
			text = append(text, ',')
		}
		text = append(append(text, '\n'), line...)
	}
	text = append(text, "\n]}\n"...)
	if _, err := catalog.Parse(text); err != nil {
		return nil, fmt.Errorf("reading what was written: %w", err)
	}
	return text, nil
}

// encodeLine is like json.Marshal, but does not escape HTML.
func encodeLine(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
