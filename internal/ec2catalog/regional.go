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

// regional returns the on-demand prices of all regions as a table with tab-separated fields. The first line has the day and the regions.
// Each further line has a type and its prices; a missing price is an empty field. Package aws/prices embeds this table.
func regional(name, asOf string) ([]byte, error) {
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
	regions := map[string]bool{}
	for _, record := range records {
		for region, p := range record.Pricing {
			if p.Linux == nil || !isRegion.MatchString(region) {
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
			prices[record.Name][region], regions[region] = q.onDemand, true
		}
	}
	if len(regions) == 0 {
		return nil, fmt.Errorf("%s has no prices", name)
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
	return out.Bytes(), nil
}
