package catalog

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Description contains what several EC2 calls return about a region's instance types.
type Description struct {
	// Region of the answers.
	Region string
	// Source is a text for people that says where the facts come from and what day they are from.
	Source string
	// Records are the entries of InstanceTypes in the answers to DescribeInstanceTypes, each as JSON with the API's names.
	Records [][]byte
	// Zones are the names of the zones that offer each type, by type, from DescribeInstanceTypeOfferings.
	Zones map[string][]string
	// ZoneIDs are the ids of zones by name; a missing zone has no id.
	ZoneIDs map[string]string
}

// FromDescription makes a catalogue without prices from EC2's answers. Records that can't be used are left out, and skipped has a
// *FieldError for each. So one type that EC2 describes in a new format does not make the other types unusable. The number of branch
// interfaces of a type is taken from builtIn, which may be nil. If builtIn is a catalogue of the same region, the band of interruptions is
// also taken from it.
func FromDescription(d Description, builtIn *Catalog) (c *Catalog, skipped []error, err error) {
	out := Catalog{
		Region:  d.Region,
		Sources: map[string]string{hardwareSource: d.Source},
		Types:   make([]Type, 0, len(d.Records)),
	}
	out.Sources[branchSource] = branchTable()
	index := d.zones(&out)
	seen := make(map[string]bool, len(d.Records))
	for i, record := range d.Records {
		var info instanceTypeInfo
		if err := json.Unmarshal(record, &info); err != nil {
			skipped = append(skipped, answerError(i, info.InstanceType, err))
			continue
		}
		t := info.facts()
		if seen[t.Name] {
			continue // this record equals an earlier one, because a page of the answer was read twice
		}
		seen[t.Name] = true
		for _, zone := range d.Zones[t.Name] {
			t.Zones = append(t.Zones, index[zone])
		}
		slices.Sort(t.Zones)
		t.Zones = slices.Compact(t.Zones)
		if err := out.check(&t, i); err != nil {
			skipped = append(skipped, err)
			continue
		}
		out.Types = append(out.Types, t)
	}
	setBranches(out.Types, builtIn)
	setInterruptions(&out, builtIn)
	c, err = New(out)
	return c, skipped, err
}

// zones sets the zones of a catalogue, sorted by name, and returns their indexes.
func (d *Description) zones(c *Catalog) map[string]int {
	index := map[string]int{}
	for _, names := range d.Zones {
		for _, name := range names {
			index[name] = 0
		}
	}
	for name := range index {
		c.Zones = append(c.Zones, Zone{Name: name, ID: d.ZoneIDs[name]})
	}
	slices.SortFunc(c.Zones, func(a, b Zone) int { return strings.Compare(a.Name, b.Name) })
	for i, zone := range c.Zones {
		index[zone.Name] = i
	}
	return index
}

// check checks one type by the same rules as New.
func (c *Catalog) check(t *Type, i int) error {
	if t.Name == "" {
		return &FieldError{Type: fmt.Sprintf("types[%d]", i), Field: "name", Problem: "must not be empty"}
	}
	k := &checker{name: t.Name}
	c.validateType(k, t)
	if k.err != nil {
		return k.err
	}
	return nil
}
