// Command ec2catalog creates a catalogue file for package aws/catalog from published facts. Hardware and zones come from the data files of
// the Python package moto. Prices come from the Go module ec2-instances-info, at the version that go.mod names, or from AWS's own price
// list file. It calls no AWS API. docs/catalog.md says how the built-in catalogue was created, and how this command updates it.
//
//	pip install --no-deps --target DIR moto
//	go run . -moto DIR/moto -o catalog.json             # what these two sources say
//	go run . -moto DIR/moto -keep-prices -o catalog.json # with the built-in on-demand prices where they are newer
//	go run . -moto DIR/moto -price-list FILE             # with the on-demand prices of AWS's price list, see docs/catalog.md
//	go run . -moto DIR/moto -keep-prices -check FILE     # how it differs from a catalogue file, packed or not
//	go run . -regional -o prices.tsv                     # on-demand prices of all regions, for package aws/prices
//	go run . -local-zones -o localzones.tsv              # on-demand prices of all Local Zones, for package aws/catalog
//	go run . -local-zones -price-list FILE               # those of a region's Local Zones, from AWS's price list
//	go run . -windows -o windows.txt                     # licences of Windows, for package aws/catalog
//
// The same sources give the same bytes. With -check, the exit status is 1 if something differs.
package main

import (
	"bytes"
	"compress/gzip"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/drawknife/drawknife/aws/catalog"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		if !errors.Is(err, flag.ErrHelp) {
			fmt.Fprintln(os.Stderr, "ec2catalog:", err)
		}
		os.Exit(1)
	}
}

func run(args []string, stdout io.Writer) error {
	flags := flag.NewFlagSet("ec2catalog", flag.ContinueOnError)
	moto := flags.String("moto", "", "`folder` of the installed Python package moto")
	region := flags.String("region", "us-east-1", "`region` of zones and prices")
	prices := flags.String("prices", "", "`file` of ec2instances.info (default: the file in the Go module that go.mod names)")
	offers := flags.String("price-list", "", "`file` with AWS's price list of Amazon EC2 in the region; its on-demand prices override all others")
	keep := flags.Bool("keep-prices", false, "keep those on-demand prices of the built-in catalogue that are from a newer price list")
	out := flags.String("o", "", "`file` to write (default: standard output, but no output with -check)")
	table := flags.Bool("regional", false, "write the on-demand prices of all regions instead of a catalogue")
	local := flags.Bool("local-zones", false, "write the on-demand prices of all Local Zones instead of a catalogue; with -price-list only those of the region")
	windows := flags.Bool("windows", false, "write the Windows licence prices of types that are not charged by vCPU, instead of a catalogue")
	check := flags.String("check", "", "catalogue `file` to compare the new catalogue with")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *moto == "" && !*table && !*local && !*windows || flags.NArg() > 0 {
		return errors.New("usage: go run . -moto DIR [-region REGION] [-prices FILE] [-price-list FILE] [-keep-prices] [-o FILE] [-check FILE]\n       go run . -regional [-prices FILE] [-o FILE]\n       go run . -local-zones [-prices FILE | -price-list FILE [-region REGION]] [-o FILE]\n       go run . -windows [-region REGION] [-prices FILE] [-o FILE]")
	}
	if *table {
		return writeTable(*prices, *out, stdout, regional)
	}
	if *local && *offers != "" {
		return writeLocal(*offers, *region, *out, stdout)
	}
	if *local {
		return writeTable(*prices, *out, stdout, localZones)
	}
	if *windows {
		return writeTable(*prices, *out, stdout, func(name, asOf string) ([]byte, error) { return windowsLicences(name, *region, asOf) })
	}
	c, err := build(*moto, *region, *prices, *offers, *keep)
	if err != nil {
		return err
	}
	text, err := encode(c)
	if err != nil {
		return err
	}
	switch {
	case *out != "":
		err = os.WriteFile(*out, text, 0o644)
	case *check == "":
		_, err = stdout.Write(text)
	}
	if err != nil || *check == "" {
		return err
	}
	other, err := readCatalog(*check)
	if err != nil {
		return err
	}
	n, err := compare(stdout, other, c)
	if err != nil {
		return err
	}
	if n > 0 {
		return fmt.Errorf("%s: %d types differ", *check, n)
	}
	return nil
}

// writeLocal writes the prices of a region's Local Zones in AWS's price list to a file, or to standard output.
func writeLocal(offers, region, out string, stdout io.Writer) error {
	list, err := readOfferFile(offers, region)
	if err != nil {
		return err
	}
	text, err := list.localTable()
	if err != nil {
		return fmt.Errorf("%s: %w", offers, err)
	}
	if out != "" {
		return os.WriteFile(out, text, 0o644)
	}
	_, err = stdout.Write(text)
	return err
}

// writeTable writes a table that is made from the price module to a file or to standard output.
func writeTable(pricesFile, out string, stdout io.Writer, table func(name, asOf string) ([]byte, error)) error {
	asOf := ""
	if pricesFile == "" {
		var err error
		if pricesFile, asOf, err = modulePrices(); err != nil {
			return err
		}
	}
	text, err := table(pricesFile, asOf)
	if err != nil {
		return err
	}
	if out != "" {
		return os.WriteFile(out, text, 0o644)
	}
	_, err = stdout.Write(text)
	return err
}

// build makes a catalogue from the sources.
func build(moto, region, pricesFile, offers string, keep bool) (*catalog.Catalog, error) {
	hw, err := readHardware(moto, region)
	if err != nil {
		return nil, err
	}
	asOf := ""
	if pricesFile == "" {
		if pricesFile, asOf, err = modulePrices(); err != nil {
			return nil, err
		}
	}
	quotes, err := readQuotes(pricesFile, region)
	if err != nil {
		return nil, err
	}
	quotes.asOf = asOf
	if offers != "" {
		if quotes.offers, err = readOfferFile(offers, region); err != nil {
			return nil, err
		}
	}
	builtIn, err := catalog.Embedded()
	if err != nil {
		return nil, err
	}
	if keep && builtIn.Region != region {
		return nil, fmt.Errorf("-keep-prices: the built-in prices are of %s, not of %s", builtIn.Region, region)
	}
	if !keep {
		builtIn = nil
	}
	return assemble(hw, quotes, builtIn)
}

// readCatalog reads a catalogue file, which may be compressed with gzip.
func readCatalog(name string) (*catalog.Catalog, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	if bytes.HasPrefix(data, []byte{0x1f, 0x8b}) {
		z, err := gzip.NewReader(bytes.NewReader(data))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if data, err = io.ReadAll(io.LimitReader(z, catalog.MaxBytes+1)); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	c, err := catalog.Parse(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return c, nil
}
