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

// Keys of Catalog.Sources. The first is that of ec2instances.info, which spot prices come from unless they say
// otherwise.
const (
	quotesSource   = "b"
	offersSource   = "c"
	hardwareSource = "hardware"
	branchSource   = "branchENIs"
)

// assemble joins the facts of all types that the region offers. On-demand prices of builtIn, when it is given, go before
// the quotes if they come from another source.
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
		// A zone that the type has left since has no place in the list; the dearest price goes with it.
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

// describe has package catalog read moto's records, with a list of zones and no prices in addition to them.
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

// isNeuron says whether a type has Neuron devices of that name. EC2 lists Inferentia twice, as a Neuron device and as an
// inference accelerator; the catalogue has each chip once.
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

// encode writes the catalogue's file: the head on the first line, then one type a line, so that versions can be compared.
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

// encodeLine is json.Marshal without escapes for HTML.
func encodeLine(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
