package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
)

// isRegion matches the names of regions, but not of local or wavelength zones. The list also has prices for such zones.
var isRegion = regexp.MustCompile(`^[a-z]{2}(-gov)?-[a-z]+-\d$`)

// isLocalZone reports whether the name is a group of Local Zones: us-west-2-lax-1. The names of Wavelength Zones in the list are not those of
// EC2, so their prices belong to no zone.
var isLocalZone = regexp.MustCompile(`^[a-z]{2}(-gov)?-[a-z]+-\d-[a-z]{3}-\d$`)

// regional writes the on-demand prices of all regions as a table: a line with the day and the regions, then a line for
// each type with its prices, fields apart by tabs, empty where there is none. It is what package aws/prices embeds.
func regional(name, asOf string) ([]byte, error) { return tableOf(name, asOf, isRegion) }

// localZones writes the on-demand prices of all groups of Local Zones, as regional does for regions.
func localZones(name, asOf string) ([]byte, error) { return tableOf(name, asOf, isLocalZone) }

// tableOf writes the on-demand prices of the places with such names.
func tableOf(name, asOf string, wanted *regexp.Regexp) ([]byte, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("reading the prices: %w", err)
	}
	var records []struct {
		Name    string `json:"instance_type"`
		Pricing map[string]struct {
			Linux json.RawMessage `json:"linux"`
		} `json:"pricing"`
	}
	if err := json.Unmarshal(data, &records); err != nil {
		return nil, fmt.Errorf("reading the prices in %s: %w", name, err)
	}
	prices := map[string]map[string]float64{} // by type, then region
	for _, record := range records {
		for region, p := range record.Pricing {
			if p.Linux == nil || !wanted.MatchString(region) {
				continue
			}
			q, err := parseQuote(p.Linux)
			if err != nil {
				return nil, fmt.Errorf("reading the prices in %s: instance type %q in %s: %w", name, record.Name, region, err)
			}
			if q.onDemand <= 0 {
				continue
			}
			if prices[record.Name] == nil {
				prices[record.Name] = map[string]float64{}
			}
			prices[record.Name][region] = q.onDemand
		}
	}
	if len(prices) == 0 {
		return nil, fmt.Errorf("%s has no prices", name)
	}
	return table(asOf, prices), nil
}

// table writes prices by type and place as tableOf does.
func table(asOf string, prices map[string]map[string]float64) []byte {
	regions := map[string]bool{}
	for _, byPlace := range prices {
		for place := range byPlace {
			regions[place] = true
		}
	}
	columns := slices.Sorted(maps.Keys(regions))
	var out bytes.Buffer
	out.WriteString(asOf)
	for _, region := range columns {
		out.WriteString("\t" + region)
	}
	for _, instanceType := range slices.Sorted(maps.Keys(prices)) {
		out.WriteString("\n" + instanceType)
		for _, region := range columns {
			out.WriteByte('\t')
			if price, ok := prices[instanceType][region]; ok {
				out.WriteString(strconv.FormatFloat(price, 'g', -1, 64))
			}
		}
	}
	out.WriteByte('\n')
	return out.Bytes()
}
