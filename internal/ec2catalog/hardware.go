package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"

	"github.com/drawknife/drawknife/aws/catalog"
)

// hardware has moto's data about a region.
type hardware struct {
	// version is the version of moto, for instance "5.2.5".
	version string
	region  string
	// records are the records of EC2's DescribeInstanceTypes, by type. They cover all regions.
	records map[string]json.RawMessage
	// zones are the zones of the region, sorted by name.
	zones []catalog.Zone
	// offered has the names of the zones that offer a type, sorted.
	offered map[string][]string
}

// offering is a record of DescribeInstanceTypeOfferings.
type offering struct {
	InstanceType, Location string
}

// versionLine matches the version in moto's __init__.py.
var versionLine = regexp.MustCompile(`(?m)^__version__ = "([^"]+)"`)

func readHardware(moto, region string) (*hardware, error) {
	initFile := filepath.Join(moto, "__init__.py")
	text, err := os.ReadFile(initFile)
	if err != nil {
		return nil, fmt.Errorf("reading moto's version: %w", err)
	}
	version := versionLine.FindSubmatch(text)
	if version == nil {
		return nil, fmt.Errorf("%s: names no __version__", initFile)
	}
	hw := &hardware{version: string(version[1]), region: region}
	resources := filepath.Join(moto, "ec2", "resources")
	if err := readData(filepath.Join(resources, "instance_types.json"), &hw.records); err != nil {
		return nil, err
	}
	var names, ids []offering
	offerings := filepath.Join(resources, "instance_type_offerings")
	if err := readData(filepath.Join(offerings, "availability-zone", region+".json"), &names); err != nil {
		return nil, err
	}
	if err := readData(filepath.Join(offerings, "availability-zone-id", region+".json"), &ids); err != nil {
		return nil, err
	}
	hw.zones = pairZones(names, ids)
	hw.offered = make(map[string][]string)
	for zone, types := range byLocation(names) {
		for name := range types {
			hw.offered[name] = append(hw.offered[name], zone)
		}
	}
	for name, zones := range hw.offered {
		slices.Sort(zones)
		if hw.records[name] == nil {
			return nil, fmt.Errorf("moto %s: instance type %q is offered in %s, but not described", hw.version, name, region)
		}
	}
	return hw, nil
}

// readData decodes a JSON file of moto. The file is plain, as in moto's repository, or compressed with the suffix ".gz", as in its
// packages.
func readData(name string, v any) error {
	data, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		packed, packedErr := os.ReadFile(name + ".gz")
		if packedErr != nil {
			return fmt.Errorf("reading moto's data, plain or packed: %w", errors.Join(err, packedErr))
		}
		data, err = unpack(packed)
	}
	if err != nil {
		return fmt.Errorf("reading %s: %w", name, err)
	}
	if err := json.Unmarshal(data, v); err != nil {
		return fmt.Errorf("reading %s: %w", name, err)
	}
	return nil
}

func unpack(packed []byte) ([]byte, error) {
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(z)
}

// byLocation returns the set of types of each location.
func byLocation(offerings []offering) map[string]map[string]bool {
	sets := make(map[string]map[string]bool)
	for _, o := range offerings {
		if sets[o.Location] == nil {
			sets[o.Location] = make(map[string]bool)
		}
		sets[o.Location][o.InstanceType] = true
	}
	return sets
}

// pairZones determines the zone ID of each zone name, because moto does not state it. A name and an ID belong together if they offer the
// same types. If several IDs match, or none does, the ID stays unknown.
func pairZones(names, ids []offering) []catalog.Zone {
	byName, byID := byLocation(names), byLocation(ids)
	var zones []catalog.Zone
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		zone := catalog.Zone{Name: name}
		var same []string
		for id, types := range byID {
			if maps.Equal(types, byName[name]) {
				same = append(same, id)
			}
		}
		alike := 0
		for _, types := range byName {
			if maps.Equal(types, byName[name]) {
				alike++
			}
		}
		if len(same) == 1 && alike == 1 {
			zone.ID = same[0]
		}
		zones = append(zones, zone)
	}
	return zones
}
