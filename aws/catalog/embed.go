package catalog

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"fmt"
)

//go:embed ec2.json.gz
var embedded string

// Embedded decodes the catalogue that is built into the package: every EC2 instance type offered in us-east-1. Its sources and their dates
// are in Catalog.Sources. Its spot prices are those of SteadySpot; the prices seen on a single day are in SpotRange, and in EmbeddedAsSeen.
// Decoding a megabyte takes some tens of milliseconds: call it once and keep the result.
func Embedded() (*Catalog, error) {
	c, err := EmbeddedAsSeen()
	if err != nil {
		return nil, err
	}
	return SteadySpot(c), nil
}

// EmbeddedAsSeen is like Embedded, but has the spot prices that were seen on a single day in each zone: for comparisons with plans that
// used these prices, and for other calculations. Do not plan with these prices: a fifth of them are below 15 % of the on-demand price, and
// planners prefer such low prices.
func EmbeddedAsSeen() (*Catalog, error) {
	z, err := gzip.NewReader(bytes.NewReader([]byte(embedded)))
	if err != nil {
		return nil, fmt.Errorf("unpacking the embedded catalogue: %w", err)
	}
	c, err := Load(z)
	if err != nil {
		return nil, fmt.Errorf("embedded catalogue: %w", err)
	}
	setBranches(c.Types, nil)
	c.PriceFacts = map[string]PriceFacts{}
	for key, source := range c.Sources {
		if key != hardwareSource && key != branchSource {
			c.PriceFacts[key] = PriceFacts{Day: dayAtEnd(source), Kind: PriceDated}
		}
	}
	c.Sources[branchSource] = branchTable()
	return c, nil
}
