package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
)

// pricesModule is the path of the module with the prices in go.mod.
const pricesModule = "github.com/LeanerCloud/ec2-instances-info"

// priceList has the data of ec2instances.info about a region.
type priceList struct {
	// asOf is the day of the prices, for instance "2025-05-28"; empty if unknown.
	asOf string
	// types by name.
	types map[string]quote
	// offers are AWS's own on-demand prices, which have priority over all others; nil if there are none.
	offers *offerFile
}

// quote has the prices of ec2instances.info for a type on Linux in a region, in USD per hour.
type quote struct {
	// onDemand is 0 if the type is not sold on demand with shared tenancy.
	onDemand float64
	// spot are the spot prices in the region's zones, ascending. The source does not say which zone each price belongs to.
	spot []float64
	// interruption is the band of the interruption frequency, for instance "5-10%".
	interruption string
}

// stamp matches the day in a module version that was made from a commit.
var stamp = regexp.MustCompile(`[-.](\d{4})(\d\d)(\d\d)\d{6}-[0-9a-f]{12}$`)

// modulePrices returns the path of the price file in the module cache, and the day of its commit. It downloads the module if necessary.
func modulePrices() (name, asOf string, err error) {
	var stdout, stderr bytes.Buffer
	cmd := exec.Command("go", "mod", "download", "-json", pricesModule)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	runErr := cmd.Run()
	var module struct{ Dir, Version, Error string }
	if err := json.Unmarshal(stdout.Bytes(), &module); err != nil || module.Dir == "" {
		return "", "", fmt.Errorf("downloading %s: %v: %s%s; the command must be run in the folder of its own go.mod",
			pricesModule, runErr, module.Error, bytes.TrimSpace(stderr.Bytes()))
	}
	if day := stamp.FindStringSubmatch(module.Version); day != nil {
		asOf = day[1] + "-" + day[2] + "-" + day[3]
	}
	return filepath.Join(module.Dir, "data", "instances.json"), asOf, nil
}

// readQuotes reads the quotes for the region.
func readQuotes(name, region string) (*priceList, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("reading the prices: %w", err)
	}
	var records []struct {
		Name    string `json:"instance_type"`
		Pricing map[string]struct {
			// Linux is not decoded here, because the prices of other regions are not needed.
			Linux json.RawMessage `json:"linux"`
		} `json:"pricing"`
	}
	if err := json.Unmarshal(data, &records); err != nil {
		return nil, fmt.Errorf("reading the prices in %s: %w", name, err)
	}
	quotes := make(map[string]quote)
	for _, record := range records {
		raw := record.Pricing[region].Linux
		if raw == nil {
			continue
		}
		q, err := parseQuote(raw)
		if err != nil {
			return nil, fmt.Errorf("reading the prices in %s: instance type %q in %s: %w", name, record.Name, region, err)
		}
		quotes[record.Name] = q
	}
	if len(quotes) == 0 {
		return nil, fmt.Errorf("%s has no prices of region %q", name, region)
	}
	return &priceList{types: quotes}, nil
}

func parseQuote(raw json.RawMessage) (quote, error) {
	var record struct {
		OnDemand     string   `json:"ondemand"`
		Spot         []string `json:"spot"`
		Interruption string   `json:"pct_interrupt"`
	}
	if err := json.Unmarshal(raw, &record); err != nil {
		return quote{}, err
	}
	q := quote{interruption: record.Interruption}
	var err error
	if record.OnDemand != "" {
		if q.onDemand, err = strconv.ParseFloat(record.OnDemand, 64); err != nil {
			return quote{}, fmt.Errorf("ondemand: %w", err)
		}
	}
	for i, text := range record.Spot {
		price, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return quote{}, fmt.Errorf("spot[%d]: %w", i, err)
		}
		q.spot = append(q.spot, price)
	}
	slices.Sort(q.spot)
	return q, nil
}
