package prices

import (
	"bufio"
	"bytes"
	"compress/gzip"
	_ "embed"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
)

//go:generate go run generate.go

//go:embed regions.tsv.gz
var regions string

// regionalSource says where the built-in prices of regions come from.
const regionalSource = "built-in price snapshot of all regions"

// maxTable bounds the table that is read.
const maxTable = 4 << 20

// Regional is the on-demand prices of a region that are built in, with their day; nil for a region that is not among
// them, as those of China. They are older than the catalogue's own: see docs/catalog.md.
func Regional(region string) (*List, error) {
	z, err := gzip.NewReader(bytes.NewReader([]byte(regions)))
	if err != nil {
		return nil, fmt.Errorf("unpacking the built-in prices: %w", err)
	}
	list, err := parseTable(io.LimitReader(z, maxTable), region)
	if err != nil {
		return nil, fmt.Errorf("built-in prices: %w", err)
	}
	return list, nil
}

// parseTable reads one column of a table as internal/ec2catalog writes it: the day and the regions, then each type with
// its prices, apart by tabs.
func parseTable(r io.Reader, region string) (*List, error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<16)
	if !lines.Scan() {
		return nil, &ListError{Source: regionalSource, Problem: "the table is empty"}
	}
	head := strings.Split(lines.Text(), "\t")
	day, err := time.Parse(time.DateOnly, head[0])
	if err != nil {
		return nil, &ListError{Source: regionalSource, Problem: fmt.Sprintf("line 1 must begin with a day, begins with %q", head[0])}
	}
	column := slices.Index(head, region)
	if column < 1 {
		return nil, nil
	}
	list := &List{Source: regionalSource, AsOf: day, OnDemand: map[string]Price{}}
	for n := 2; lines.Scan(); n++ {
		fields := strings.Split(lines.Text(), "\t")
		if len(fields) != len(head) || fields[0] == "" {
			return nil, &ListError{Source: regionalSource, Problem: fmt.Sprintf("line %d must have a type and %d prices", n, len(head)-1)}
		}
		if fields[column] == "" {
			continue
		}
		amount, err := strconv.ParseFloat(fields[column], 64)
		if err != nil || !usable(amount) {
			return nil, &ListError{Source: regionalSource, Problem: fmt.Sprintf("line %d: %q is no price", n, fields[column])}
		}
		list.OnDemand[fields[0]] = Price{PerHour: amount}
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	return list, list.check()
}
