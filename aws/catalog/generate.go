//go:build ignore

// Command generate makes ec2.json.gz, the catalogue embedded in package catalog.
//
//	go run generate.go CATALOG.json   # replace ec2.json.gz by the facts of a catalogue file
//	go run generate.go                # check that the present file can be read
//
// internal/ec2catalog creates CATALOG.json from published data. docs/catalog.md has the commands.
//
// The text of CATALOG.json, with one type per line, is compressed unchanged, so that versions can be compared.
package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"

	"github.com/drawknife/drawknife/aws/catalog"
)

// maxPacked keeps the module small, because the file becomes part of every program that imports the package.
const maxPacked = 200 << 10

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) == 0 {
		_, err := catalog.Embedded()
		return err
	}
	data, err := os.ReadFile(args[0])
	if err != nil {
		return err
	}
	if _, err := catalog.Parse(data); err != nil {
		return fmt.Errorf("%s: %w", args[0], err)
	}
	var packed bytes.Buffer
	z, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return err
	}
	if _, err := z.Write(data); err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return err
	}
	if packed.Len() > maxPacked {
		return fmt.Errorf("%s: has %d bytes when packed, more than the %d that may be embedded", args[0], packed.Len(), maxPacked)
	}
	return os.WriteFile("ec2.json.gz", packed.Bytes(), 0o644)
}
