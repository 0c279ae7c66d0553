// Package catalog holds what EC2 instance types are: hardware facts, the zones that offer them and what they cost.
// It is plain data, read without any call to AWS and without credentials.
//
//	c, err := catalog.Embedded() // the types of us-east-1, built in
//	if err != nil { … }
//	m5, _ := c.Lookup("m5.large")
//	fmt.Println(m5.VCPUs, m5.MemoryMiB, m5.OnDemandUSD)
//
// # Where a catalogue comes from
//
//   - [Embedded] is the one built into the package. Its sources and their dates are in Catalog.Sources, and the
//     notices that go with them in the file NOTICE of this module.
//   - [Load] and [Parse] read a catalogue file: one JSON object with "schema" ([Schema]), "region", "zones" (name and
//     id), "sources" (text by key) and "types", whose records have the fields of [Type] under its JSON names. Fields
//     that are false, empty or unknown are left out; a field the shape does not have is refused.
//   - [ParseDescribeInstanceTypes] reads what `aws ec2 describe-instance-types` prints, with a prices file in addition to it
//     (see [Prices] for its shape), because EC2's answer has neither prices nor zones.
//   - [New] checks and takes over records from anywhere else.
//
// All four give the same [Catalog], with the same guarantees: types sorted by name and unique, every number finite,
// not negative and small enough that the arithmetic done with it cannot overflow.
//
// # Refreshing the embedded catalogue
//
//	go run generate.go CATALOG.json
//
// in this directory replaces ec2.json.gz by the given file of the same shape, after checking it; `go generate` without
// a file checks the one that is there. NOTICE names the sources: change it when they change.
//
// Stability: beta.
package catalog

//go:generate go run generate.go
