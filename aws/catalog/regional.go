package catalog

import (
	"bufio"
	"compress/gzip"
	_ "embed"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

//go:generate go run generate_regions.go

//go:embed regions.tsv.gz
var regions string

// regionalSource is the source of the built-in prices of regions.
const regionalSource = "built-in price snapshot of all regions"

// maxTable bounds the size of the table.
const maxTable = 4 << 20

// maxPerHour is more than any instance costs.
const maxPerHour = 1e9

// Regional contains the built-in on-demand prices of one region.
type Regional struct {
	// Source says where they come from, for people.
	Source string
	// AsOf is the day of the prices.
	AsOf time.Time
	// OnDemand prices by type, USD per hour.
	OnDemand map[string]float64
	// Elsewhere are the types that have prices only in other regions of the table.
	Elsewhere map[string]bool
}

// RegionalPrices returns the built-in on-demand prices of a region, or nil for other regions, such as those of China. They are older than
// the catalogue's own prices: docs/catalog.md states their day.
func RegionalPrices(region string) (*Regional, error) {
	z, err := gzip.NewReader(strings.NewReader(regions))
	if err != nil {
		return nil, fmt.Errorf("unpacking the built-in prices: %w", err)
	}
	list, err := parseTable(io.LimitReader(z, maxTable), region)
	if err != nil {
		return nil, fmt.Errorf("built-in prices: %w", err)
	}
	return list, nil
}

// parseTable reads one column of a table as written by internal/ec2catalog: the day and the regions, then each type with its prices,
// separated by tabs.
func parseTable(r io.Reader, region string) (*Regional, error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<16)
	if !lines.Scan() {
		return nil, &FieldError{Field: "line 1", Problem: "must have the day and the regions, and the table is empty"}
	}
	head := strings.Split(lines.Text(), "\t")
	day, err := time.Parse(time.DateOnly, head[0])
	if err != nil {
		return nil, &FieldError{Field: "line 1", Problem: fmt.Sprintf("must begin with a day, begins with %q", head[0])}
	}
	column := slices.Index(head, region)
	if column < 1 {
		return nil, nil
	}
	list := &Regional{Source: regionalSource, AsOf: day, OnDemand: map[string]float64{}, Elsewhere: map[string]bool{}}
	for n := 2; lines.Scan(); n++ {
		fields := strings.Split(lines.Text(), "\t")
		at := fmt.Sprintf("line %d", n)
		if len(fields) != len(head) || fields[0] == "" {
			return nil, &FieldError{Field: at, Problem: fmt.Sprintf("must have a type and %d prices", len(head)-1)}
		}
		if fields[column] == "" {
			list.Elsewhere[fields[0]] = true
			continue
		}
		amount, err := strconv.ParseFloat(fields[column], 64)
		if err != nil || !isPrice(amount) {
			return nil, &FieldError{Field: at, Problem: fmt.Sprintf("%q is no price", fields[column])}
		}
		list.OnDemand[fields[0]] = amount
	}
	return list, lines.Err()
}

// isPrice reports whether an amount can be a price. A price of 0 is invalid: planners would put every pod on instances that cost nothing.
func isPrice(perHour float64) bool {
	return perHour > 0 && perHour <= maxPerHour && !math.IsNaN(perHour)
}
