package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/drawknife/drawknife/aws/catalog"
)

// sameLicence is the largest difference, in USD per hour, that counts as rounding.
const sameLicence = 1e-4

// windowsLicences returns the types of a region whose Windows licence does not follow the rule of package catalog. Each line has a type and
// the difference between its Windows and Linux prices. Package aws/catalog embeds this text.
func windowsLicences(name, region, asOf string) ([]byte, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("reading the prices: %w", err)
	}
	var records []struct {
		Name    string `json:"instance_type"`
		VCPUs   int64  `json:"vCPU"`
		Pricing map[string]struct {
			Linux   json.RawMessage `json:"linux"`
			Windows json.RawMessage `json:"mswin"`
		} `json:"pricing"`
	}
	if err := json.Unmarshal(data, &records); err != nil {
		return nil, fmt.Errorf("reading the prices in %s: %w", name, err)
	}
	var lines []string
	for _, record := range records {
		p := record.Pricing[region]
		if p.Linux == nil || p.Windows == nil {
			continue
		}
		linux, err := parseQuote(p.Linux)
		if err != nil {
			return nil, fmt.Errorf("reading the prices in %s: instance type %q: %w", name, record.Name, err)
		}
		windows, err := parseQuote(p.Windows)
		if err != nil {
			return nil, fmt.Errorf("reading the prices in %s: instance type %q on Windows: %w", name, record.Name, err)
		}
		if linux.onDemand <= 0 || windows.onDemand <= 0 {
			continue
		}
		licence := math.Round((windows.onDemand-linux.onDemand)*1e5) / 1e5
		rule := catalog.WindowsLicence(&catalog.Type{Name: record.Name, VCPUs: record.VCPUs}, nil)
		if math.Abs(licence-rule) > max(sameLicence, sameLicence*float64(record.VCPUs)) {
			lines = append(lines, record.Name+" "+strconv.FormatFloat(licence, 'g', -1, 64)+"\n")
		}
	}
	slices.Sort(lines)
	var out bytes.Buffer
	fmt.Fprintf(&out, "# Windows licences of instance types in %s, USD per hour, that differ from the rule (see windows.go), %s. Made by internal/ec2catalog -windows; DO NOT EDIT.\n", region, asOf)
	out.WriteString(strings.Join(lines, ""))
	return out.Bytes(), nil
}
