package learned

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/drawknife/drawknife/cloudprovider"
)

// attribute is the name of an attribute with its domain.
type attribute string

func attributeOf(driver string, name resourcev1.QualifiedName) attribute {
	if strings.Contains(string(name), "/") {
		return attribute(name)
	}
	return attribute(driver + "/" + string(name))
}

// value is the name of an attribute together with one value of this attribute.
type value struct {
	name attribute
	text string
}

func textOf(a resourcev1.DeviceAttribute) string {
	switch {
	case a.IntValue != nil:
		return fmt.Sprintf("int %d", *a.IntValue)
	case a.BoolValue != nil:
		return fmt.Sprintf("bool %t", *a.BoolValue)
	case a.VersionValue != nil:
		return "version " + *a.VersionValue
	case a.StringValue != nil:
		return "string " + *a.StringValue
	}
	return ""
}

// repeatedValues returns the values that at least two nodes have published. A value that only one node has published may be specific to
// this node, such as a serial number.
func repeatedValues(all map[kind][]published) map[value]bool {
	first, out := map[value]string{}, map[value]bool{}
	for _, nodes := range all {
		for i := range nodes {
			for driver, pools := range nodes[i].drivers {
				eachAttribute(driver, pools, func(v value) {
					if node, seen := first[v]; !seen {
						first[v] = nodes[i].node
					} else if node != nodes[i].node {
						out[v] = true
					}
				})
			}
		}
	}
	return out
}

func eachAttribute(driver string, pools []cloudprovider.DevicePool, visit func(value)) {
	for i := range pools {
		for k := range pools[i].Devices {
			for name, a := range pools[i].Devices[k].Attributes {
				visit(value{attributeOf(driver, name), textOf(a)})
			}
		}
	}
}

// attributeRule says which attributes of a node are learned.
type attributeRule struct {
	// repeated are the values that several nodes have published.
	repeated map[value]bool
	// stated are the attributes that templates of the type have. bound are the attributes whose values depend on the offering. They are not
	// learned.
	stated, bound map[attribute]bool
	// alone is true if the kind has only one node.
	alone bool
}

// apply returns copies of the devices of a node, with the attributes that are valid for each node of the kind:
//   - a value that several nodes have published, or the value of a single node for an attribute that the templates also have;
//   - a stand-in for any other value that is compared (the templates have the attribute, or several devices of the node have the same
//     value), so that devices with the same value still have the same value;
//   - no other values: plans must not rely on a selector for such a value.
func (r *attributeRule) apply(node published) published {
	bearers := map[value]int{}
	for driver, pools := range node.drivers {
		eachAttribute(driver, pools, func(v value) { bearers[v]++ })
	}
	keep := &keeper{attributeRule: r, bearers: bearers, standIns: map[value]string{}, count: map[attribute]int{}}
	out := published{node.node, map[string][]cloudprovider.DevicePool{}}
	for _, driver := range slices.Sorted(maps.Keys(node.drivers)) {
		pools := make([]cloudprovider.DevicePool, len(node.drivers[driver]))
		for i := range pools {
			pools[i] = node.drivers[driver][i].DeepCopy()
			for k := range pools[i].Devices {
				keep.device(driver, &pools[i].Devices[k])
			}
		}
		out.drivers[driver] = pools
	}
	return out
}

// keeper applies an attribute rule to the devices of a node. It processes the devices of all drivers together, because a claim can compare
// attributes of several drivers.
type keeper struct {
	*attributeRule
	bearers  map[value]int
	standIns map[value]string
	count    map[attribute]int
}

func (k *keeper) device(driver string, d *resourcev1.Device) {
	for _, name := range slices.Sorted(maps.Keys(d.Attributes)) {
		a := d.Attributes[name]
		v := value{attributeOf(driver, name), textOf(a)}
		switch {
		case k.bound[v.name]:
			delete(d.Attributes, name)
		case k.repeated[v], k.alone && k.stated[v.name]:
		case a.StringValue != nil && (k.stated[v.name] || k.bearers[v] > 1):
			if k.standIns[v] == "" {
				k.standIns[v] = fmt.Sprintf("own-%d", k.count[v.name])
				k.count[v.name]++
			}
			text := k.standIns[v]
			d.Attributes[name] = resourcev1.DeviceAttribute{StringValue: &text}
		default:
			delete(d.Attributes, name)
		}
	}
}
