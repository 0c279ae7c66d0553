package learned

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/drawknife/drawknife/cloudprovider"
)

// publication contains the devices that one driver has published on a node.
type publication struct {
	node  string
	pools []cloudprovider.DevicePool
}

// placed is a device of a publication.
type placed struct {
	pool, device int
	content      string
	of           *resourcev1.Device
}

// shape is a publication in a form that can be compared: devices sorted by all their fields except their names and the amounts of their
// capacity.
type shape struct {
	publication
	devices []placed
	text    string
}

func shapeOf(p publication) shape {
	out := shape{publication: p}
	var parts []string
	for i := range p.pools {
		parts = append(parts, p.pools[i].Suffix+textOfCounters(p.pools[i].SharedCounters))
		for k := range p.pools[i].Devices {
			d := &p.pools[i].Devices[k]
			out.devices = append(out.devices, placed{i, k, fmt.Sprintf("%d %s", i, contentOf(d)), d})
		}
	}
	slices.SortStableFunc(out.devices, func(a, b placed) int {
		return cmp.Or(strings.Compare(a.content, b.content), compareCapacity(a.of, b.of), strings.Compare(a.of.Name, b.of.Name))
	})
	for i := range out.devices {
		parts = append(parts, out.devices[i].content)
	}
	out.text = strings.Join(parts, "\n")
	return out
}

func textOfCounters(sets []resourcev1.CounterSet) string {
	text, err := json.Marshal(sets)
	if err != nil {
		return "" // never: all values can be written as JSON
	}
	return string(text)
}

// contentOf returns the content of a device without its name and the amounts of its capacity.
func contentOf(d *resourcev1.Device) string {
	bare := *d
	bare.Name = ""
	bare.Capacity = make(map[resourcev1.QualifiedName]resourcev1.DeviceCapacity, len(d.Capacity))
	for name := range d.Capacity {
		bare.Capacity[name] = resourcev1.DeviceCapacity{}
	}
	text, err := json.Marshal(bare)
	if err != nil {
		return "" // never: all values can be written as JSON
	}
	return string(text)
}

// compareCapacity compares the capacities of two devices. Both devices have capacities with the same names.
func compareCapacity(a, b *resourcev1.Device) int {
	for _, name := range slices.Sorted(maps.Keys(a.Capacity)) {
		x, y := a.Capacity[name].Value, b.Capacity[name].Value
		if order := x.Cmp(y); order != 0 {
			return order
		}
	}
	return 0
}

// agreed returns the most frequent devices, and the nodes that have published them. It groups the publications by their shape and chooses
// the group with the most publications. If several groups are equally large, it chooses the group with the fewest devices. Each capacity in
// the result is the lowest capacity among the nodes of the group. The list must not be empty.
func agreed(list []publication) (pools []cloudprovider.DevicePool, nodes []string) {
	groups := map[string][]shape{}
	for _, p := range list {
		s := shapeOf(p)
		groups[s.text] = append(groups[s.text], s)
	}
	best := slices.MinFunc(slices.Collect(maps.Values(groups)), func(a, b []shape) int {
		return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(len(a[0].devices), len(b[0].devices)), compareTotal(a[0], b[0]), strings.Compare(a[0].text, b[0].text))
	})
	slices.SortFunc(best, func(a, b shape) int { return strings.Compare(a.node, b.node) })
	for i := range best {
		nodes = append(nodes, best[i].node)
	}
	return leastOf(best), nodes
}

// compareTotal compares the total capacities of the devices of two shapes, one capacity name after another.
func compareTotal(a, b shape) int {
	x, y := totalOf(a), totalOf(b)
	for _, name := range slices.Sorted(maps.Keys(x)) {
		if other := y[name]; other != nil && x[name].Cmp(*other) != 0 {
			return x[name].Cmp(*other)
		}
	}
	return 0
}

func totalOf(s shape) map[resourcev1.QualifiedName]*resource.Quantity {
	out := map[resourcev1.QualifiedName]*resource.Quantity{}
	for i := range s.devices {
		for name, c := range s.devices[i].of.Capacity {
			if out[name] == nil {
				out[name] = &resource.Quantity{}
			}
			out[name].Add(c.Value)
		}
	}
	return out
}

// leastOf returns the pools of the first of equal shapes. Each capacity of a device is the lowest value among all of these shapes. If nodes
// use different names for devices, the devices are numbered.
func leastOf(alike []shape) []cloudprovider.DevicePool {
	first := alike[0]
	out := make([]cloudprovider.DevicePool, len(first.pools))
	for i := range first.pools {
		out[i] = first.pools[i].DeepCopy()
	}
	for at, d := range first.devices {
		device := &out[d.pool].Devices[d.device]
		for _, other := range alike[1:] {
			for name, c := range device.Capacity {
				if less := other.devices[at].of.Capacity[name]; less.Value.Cmp(c.Value) < 0 {
					device.Capacity[name] = less
				}
			}
		}
	}
	names := namesOf(&first)
	if slices.ContainsFunc(alike[1:], func(other shape) bool { return !slices.Equal(namesOf(&other), names) }) {
		for i := range out {
			for k := range out[i].Devices {
				out[i].Devices[k].Name = fmt.Sprintf("device-%d", k)
			}
		}
	}
	return out
}

// namesOf returns the names of the shape's devices, each with the name of its pool, sorted.
func namesOf(s *shape) []string {
	var out []string
	for i := range s.devices {
		out = append(out, fmt.Sprintf("%d %s", s.devices[i].pool, s.devices[i].of.Name))
	}
	slices.Sort(out)
	return out
}
