package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

// offerFile has the on-demand prices of AWS's price list for a region, for Linux with shared tenancy.
type offerFile struct {
	// asOf is the day on which the list was published.
	asOf string
	// onDemand has the prices in USD per hour, by instance type.
	onDemand map[string]float64
	// local are USD per hour by instance type and group of Local Zones.
	local map[string]map[string]float64
}

// price returns the price of the type, or 0 if the list has none or o is nil.
func (o *offerFile) price(name string) float64 {
	if o == nil {
		return 0
	}
	return o.onDemand[name]
}

// product is an entry of "products" in an offer file.
type product struct {
	ProductFamily string            `json:"productFamily"`
	Attributes    map[string]string `json:"attributes"`
}

// instanceType returns the type that the product is, as launches without further wishes get it, and the place where: the region or one of its
// groups of Local Zones. The type is "" for all else.
func (p *product) instanceType(region string) (name, place string) {
	if p.ProductFamily != "Compute Instance" && p.ProductFamily != "Compute Instance (bare metal)" {
		return "", ""
	}
	place = cmp.Or(p.Attributes["regionCode"], region)
	if place != region && !(strings.HasPrefix(place, region+"-") && isLocalZone.MatchString(place)) {
		return "", ""
	}
	for key, want := range map[string]string{
		"operatingSystem": "Linux", "tenancy": "Shared", "preInstalledSw": "NA", "capacitystatus": "Used", "marketoption": "OnDemand",
		"operation": "RunInstances",
	} {
		if is, ok := p.Attributes[key]; ok && is != want {
			return "", ""
		}
	}
	return p.Attributes["instanceType"], place
}

// offerTerm is an entry of "terms" in an offer file.
type offerTerm struct {
	PriceDimensions map[string]struct {
		Unit         string            `json:"unit"`
		PricePerUnit map[string]string `json:"pricePerUnit"`
	} `json:"priceDimensions"`
}

// readOfferFile reads AWS's price list file of Amazon EC2 for a region, entry by entry, because the file of a large region has hundreds of
// megabytes.
func readOfferFile(name, region string) (*offerFile, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("reading the price list: %w", err)
	}
	defer file.Close() // nothing was written, so closing can't lose anything
	list, err := parseOfferFile(file, region)
	if err != nil {
		return nil, fmt.Errorf("reading the price list %s: %w", name, err)
	}
	return list, nil
}

func parseOfferFile(r io.Reader, region string) (*offerFile, error) {
	d := json.NewDecoder(r)
	list := &offerFile{onDemand: map[string]float64{}, local: map[string]map[string]float64{}}
	type offered struct{ name, place string }
	types := map[string]offered{} // by SKU
	readTerm := func(sku string) error {
		var terms map[string]offerTerm
		if err := d.Decode(&terms); err != nil {
			return err
		}
		product, wanted := types[sku]
		if !wanted {
			return nil
		}
		usd, err := hourly(terms)
		if err != nil {
			return fmt.Errorf("%s, %s: %w", sku, product.name, err)
		}
		return list.set(product.name, product.place, region, usd)
	}
	err := eachMember(d, func(key string) error {
		switch key {
		case "publicationDate":
			var published time.Time
			if err := d.Decode(&published); err != nil {
				return err
			}
			list.asOf = published.UTC().Format(time.DateOnly)
			return nil
		case "products":
			return eachMember(d, func(sku string) error {
				var p product
				if err := d.Decode(&p); err != nil {
					return err
				}
				if name, place := p.instanceType(region); name != "" {
					types[sku] = offered{name, place}
				}
				return nil
			})
		case "terms":
			return eachMember(d, func(kind string) error {
				if kind != "OnDemand" {
					return skip(d)
				}
				return eachMember(d, readTerm)
			})
		}
		return skip(d)
	})
	if err != nil {
		return nil, err
	}
	if len(list.onDemand) == 0 {
		return nil, fmt.Errorf("it has no on-demand prices of region %q for Linux", region)
	}
	return list, nil
}

// set sets the price of a type in the region or in a group of Local Zones. It is an error if the list has another one.
func (o *offerFile) set(name, place, region string, usd float64) error {
	prices, key := o.onDemand, name
	if place != region {
		if o.local[name] == nil {
			o.local[name] = map[string]float64{}
		}
		prices, key = o.local[name], place
	}
	if before, twice := prices[key]; twice && before != usd {
		return fmt.Errorf("%s has the prices %v and %v in %s", name, before, usd, place)
	}
	prices[key] = usd
	return nil
}

// localTable writes the prices of the region's Local Zones as localZones does.
func (o *offerFile) localTable() ([]byte, error) {
	if len(o.local) == 0 {
		return nil, errors.New("the price list has no prices of Local Zones")
	}
	return table(o.asOf, o.local), nil
}

// hourly returns the price per hour. Exactly one term must have such a price.
func hourly(terms map[string]offerTerm) (float64, error) {
	var prices []float64
	for _, term := range terms {
		for _, dimension := range term.PriceDimensions {
			if dimension.Unit != "Hrs" {
				continue
			}
			usd, err := strconv.ParseFloat(dimension.PricePerUnit["USD"], 64)
			if err != nil {
				return 0, fmt.Errorf("pricePerUnit: %w", err)
			}
			prices = append(prices, usd)
		}
	}
	slices.Sort(prices)
	if prices = slices.Compact(prices); len(prices) != 1 || prices[0] <= 0 {
		return 0, fmt.Errorf("its prices per hour are %v, want one above 0", prices)
	}
	return prices[0], nil
}

// eachMember calls read with the name of each member of an object; read must consume the value.
func eachMember(d *json.Decoder, read func(key string) error) error {
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return fmt.Errorf("at byte %d: want an object, got %v: %w", d.InputOffset(), open, orSyntax(err))
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return err
		}
		if err := read(key.(string)); err != nil { // keys of objects are strings
			return err
		}
	}
	_, err := d.Token()
	return err
}

// errNoObject means that the file does not have an object where the format requires one.
var errNoObject = errors.New("not AWS's format")

func orSyntax(err error) error {
	if err != nil {
		return err
	}
	return errNoObject
}

func skip(d *json.Decoder) error {
	var value json.RawMessage
	return d.Decode(&value)
}
