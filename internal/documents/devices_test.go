package documents_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/drawknife/drawknife/aws/catalog"
	"github.com/drawknife/drawknife/aws/instancetype"
	"github.com/drawknife/drawknife/cloudprovider"
)

// TestDevices holds the tables of docs/devices.md to what instance types publish.
func TestDevices(t *testing.T) {
	types := publishing(t, instancetype.Settings{})
	holdPage(t, "../../docs/devices.md", map[string]string{
		"models": modelsTable(types), "types": deviceTypesTable(types), "partitions": partitionsTable(publishing(t, instancetype.Settings{NVIDIAMIG: true})),
	})
}

// publishing are EC2's types with all drivers.
func publishing(t *testing.T, s instancetype.Settings) []*cloudprovider.InstanceType {
	t.Helper()
	facts, err := catalog.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	s.DeviceDrivers = map[string]string{
		instancetype.DevicesNVIDIA: instancetype.NVIDIADriver, instancetype.DevicesEFA: instancetype.EFADriver, instancetype.DevicesNeuron: instancetype.NeuronDriver,
	}
	types, err := instancetype.ResolveSettings(facts, s)
	if err != nil {
		t.Fatal(err)
	}
	return types
}

// modelsTable has a row for each model of GPU.
func modelsTable(types []*cloudprovider.InstanceType) string {
	rows := map[string][]string{}
	for _, it := range types {
		for _, p := range it.Devices {
			for i := range p.Devices {
				d := &p.Devices[i]
				if p.Driver != instancetype.NVIDIADriver {
					continue
				}
				memory := d.Capacity["memory"].Value
				row := []string{*d.Attributes["productName"].StringValue, *d.Attributes["architecture"].StringValue, *d.Attributes["cudaComputeCapability"].VersionValue, fmt.Sprintf("%dMi", memory.Value()>>20)}
				rows[strings.Join(row, " ")] = row
			}
		}
	}
	return tableOf([]string{"`productName`", "`architecture`", "`cudaComputeCapability`", "`memory`"}, rows)
}

// deviceTypesTable has a row for each set of devices that is not of EFA alone.
func deviceTypesTable(types []*cloudprovider.InstanceType) string {
	names, cells := map[string][]string{}, map[string][]string{}
	for _, it := range types {
		counts := map[string]string{}
		for _, p := range it.Devices {
			counts[p.Driver] = fmt.Sprint(len(p.Devices))
			if product := p.Devices[0].Attributes["productName"].StringValue; product != nil {
				counts[p.Driver] += " " + *product
			}
		}
		if counts[instancetype.NVIDIADriver] == "" && counts[instancetype.NeuronDriver] == "" {
			continue
		}
		row := []string{counts[instancetype.NVIDIADriver], counts[instancetype.EFADriver], counts[instancetype.NeuronDriver]}
		key := strings.Join(row, "|")
		names[key], cells[key] = append(names[key], it.Name), row
	}
	rows := map[string][]string{}
	for key, row := range cells {
		rows[names[key][0]] = append([]string{strings.Join(names[key], ", ")}, row...)
	}
	return tableOf([]string{"Types", "`" + instancetype.NVIDIADriver + "`", "`" + instancetype.EFADriver + "`", "`" + instancetype.NeuronDriver + "`"}, rows)
}

// partitionsTable has a row for each profile of each model.
func partitionsTable(types []*cloudprovider.InstanceType) string {
	rows := map[string][]string{}
	for _, it := range types {
		places := map[string]map[string]bool{}
		for _, p := range it.Devices {
			for i := range p.Devices {
				d := &p.Devices[i]
				profile := d.Attributes["profile"].StringValue
				if profile == nil {
					continue
				}
				product, memory := *d.Attributes["productName"].StringValue, d.Capacity["memory"].Value
				processors := d.Capacity["multiprocessors"].Value
				key := fmt.Sprintf("%s %012d %04d %s", product, memory.Value(), processors.Value(), *profile)
				if places[key] == nil {
					places[key] = map[string]bool{}
				}
				places[key][d.Name[strings.LastIndex(d.Name, "-")+1:]] = true
				rows[key] = []string{product, *profile, fmt.Sprintf("%dMi", memory.Value()>>20), processors.String(), fmt.Sprint(len(places[key]))}
			}
		}
	}
	return tableOf([]string{"`productName`", "`profile`", "`memory`", "`multiprocessors`", "Places on a GPU"}, rows)
}

// tableOf is a table of the rows in the order of their keys.
func tableOf(head []string, rows map[string][]string) string {
	var list [][]string
	for _, key := range slices.Sorted(maps.Keys(rows)) {
		list = append(list, rows[key])
	}
	return table(head, list)
}
