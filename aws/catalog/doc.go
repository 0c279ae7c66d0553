// Package catalog describes EC2 instance types: hardware facts, the zones that offer them and their prices. It is plain data, read without
// any call to AWS and without credentials.
//
//	c, err := catalog.Embedded() // the types of us-east-1, built in
//	if err != nil { … }
//	m5, _ := c.Lookup("m5.large")
//	fmt.Println(m5.VCPUs, m5.MemoryMiB, m5.OnDemandUSD)
//
// # Where a catalogue comes from
//
//   - [Embedded] returns the catalogue built into the package. Its sources and their dates are in Catalog.Sources, and their notices in the
//     file NOTICE of this module.
//   - [Load] and [Parse] read a catalogue file: one JSON object with "schema" ([Schema]), "region", "zones" (name and
//     id), "sources" (text by key) and "types", whose records have the fields of [Type] under its JSON names. Fields
//     that are false, empty or unknown are left out; unknown fields are errors.
//   - [ParseDescribeInstanceTypes] reads the output of `aws ec2 describe-instance-types` and a prices file (see [Prices] for its format),
//     because EC2's answer has neither prices nor zones.
//   - [New] makes a catalogue of records from elsewhere.
//
// All of these functions return a [Catalog] with the same guarantees: types are sorted by name and unique, and every number is finite, not
// negative, and small enough that calculations with it cannot overflow.
//
// # Refreshing the embedded catalogue
//
//	go run generate.go CATALOG.json
//
// in this directory replaces ec2.json.gz by the given file of the same shape, after checking it; `go generate` without
// a file checks the present file. NOTICE names the sources: update it when they change.
//
// Stability: beta.
package catalog

//go:generate go run generate.go
