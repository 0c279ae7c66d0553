package catalog

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"fmt"
)

//go:embed ec2.json.gz
var embedded string

// Embedded decodes the catalogue that is built into the package: every EC2 instance type offered in us-east-1. Its
// sources and their dates are in Catalog.Sources. Decoding takes some tens of milliseconds: call it once and keep the result.
func Embedded() (*Catalog, error) {
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
