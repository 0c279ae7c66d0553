package learned

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/drawknife/drawknife/cloudprovider"
)

// maxWords is the largest number of differences that a sentence lists.
const maxWords = 4

// difference describes how published devices differ from the devices of the instance type. It compares the numbers of devices, and the
// values of capacities and attributes that the type lists. It omits values that the type does not list, and values for which standsIn
// returns true.
func difference(stated, have []cloudprovider.DevicePool) string {
	if len(stated) == 0 {
		return fmt.Sprintf("%s in place of none", countOf(have))
	}
	var out []string
	if countOf(stated) != countOf(have) {
		out = append(out, fmt.Sprintf("%s in place of %s", countOf(have), countOf(stated)))
	}
	said, seen := valuesOf(stated), valuesOf(have)
	for _, name := range slices.Sorted(maps.Keys(said)) {
		theirs := seen[name]
		switch {
		case standsIn(said[name]) || standsIn(theirs) || slices.Equal(said[name], theirs):
		case len(theirs) == 0:
			out = append(out, fmt.Sprintf("no %s in place of %s", name, strings.Join(said[name], ", ")))
		default:
			out = append(out, fmt.Sprintf("%s %s in place of %s", name, strings.Join(theirs, ", "), strings.Join(said[name], ", ")))
		}
	}
	if len(out) > maxWords {
		out = append(out[:maxWords], fmt.Sprintf("%d more differences", len(out)-maxWords))
	}
	return strings.Join(out, "; ")
}

// countOf returns a text with the number of devices. The text says whether the number includes partitions.
func countOf(pools []cloudprovider.DevicePool) string {
	whole, total := int64(0), int64(0)
	for i := range pools {
		whole += pools[i].Count()
		total += int64(len(pools[i].Devices))
	}
	unit := "devices"
	if total == 1 {
		unit = "device"
	}
	if whole == total {
		return fmt.Sprintf("%d %s", total, unit)
	}
	return fmt.Sprintf("%d %s, partitions included,", total, unit)
}

// valuesOf returns the different values of each attribute and capacity, sorted.
func valuesOf(pools []cloudprovider.DevicePool) map[string][]string {
	sets := map[string]map[string]bool{}
	add := func(name resourcev1.QualifiedName, text string) {
		if sets[string(name)] == nil {
			sets[string(name)] = map[string]bool{}
		}
		sets[string(name)][text] = true
	}
	for i := range pools {
		for k := range pools[i].Devices {
			d := &pools[i].Devices[k]
			for name, a := range d.Attributes {
				_, text, _ := strings.Cut(textOf(a), " ")
				add(name, text)
			}
			for name, c := range d.Capacity {
				add(name, c.Value.String())
			}
		}
	}
	out := map[string][]string{}
	for name, set := range sets {
		out[name] = slices.Sorted(maps.Keys(set))
	}
	return out
}

// standsIn reports whether values seem to be numbered placeholders. Placeholders only show which devices have equal values.
func standsIn(values []string) bool {
	return len(values) > 0 && !slices.ContainsFunc(values, func(text string) bool {
		stem, number, numbered := cutLast(text, "-")
		return !numbered || stem == "" || number == "" || strings.Trim(number, "0123456789") != ""
	})
}

func cutLast(text, separator string) (before, after string, found bool) {
	i := strings.LastIndex(text, separator)
	if i < 0 {
		return text, "", false
	}
	return text[:i], text[i+len(separator):], true
}
