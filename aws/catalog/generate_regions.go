//go:build ignore

// Command generate_regions makes regions.tsv.gz, the table of on-demand prices embedded in package catalog.
//
//	go run generate_regions.go TABLE.tsv   # replace regions.tsv.gz by a table of internal/ec2catalog
//	go run generate_regions.go             # check that the present file can be read
package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"

	"github.com/drawknife/drawknife/aws/catalog"
)

// maxPacked keeps the module small, because the file becomes part of every program that imports the package.
const maxPacked = 100 << 10

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) == 0 {
		_, err := catalog.RegionalPrices("us-east-1")
		return err
	}
	text, err := os.ReadFile(args[0])
	if err != nil {
		return err
	}
	var packed bytes.Buffer
	z, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return err
	}
	if _, err := z.Write(text); err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return err
	}
	if packed.Len() > maxPacked {
		return fmt.Errorf("%s: has %d bytes when packed, more than the %d that may be embedded", args[0], packed.Len(), maxPacked)
	}
	return os.WriteFile("regions.tsv.gz", packed.Bytes(), 0o644)
}
