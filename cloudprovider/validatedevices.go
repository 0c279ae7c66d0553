package cloudprovider

import (
	"fmt"
	"slices"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// devices checks the device pools.
func (c *catalogCheck) devices() {
	seen := map[[2]string]bool{}
	for i := range c.t.Devices {
		p := &c.t.Devices[i]
		if key := [2]string{p.Driver, p.Suffix}; seen[key] {
			c.fault("CP-CATALOG-16", "devices[%d] is a second pool of driver %q with suffix %q; pools are unique", i, p.Driver, p.Suffix)
		} else {
			seen[key] = true
		}
		for _, fault := range ValidateDevicePool(p, field.NewPath("devices").Index(i)) {
			c.fault("CP-CATALOG-16", "%s", fault.Error())
		}
		for j := range p.Bindings {
			c.binding(&p.Bindings[j], fmt.Sprintf("devices[%d].bindings[%d]", i, j))
		}
	}
}

// binding checks that each offering has a value for the attribute, and that the value is valid for an attribute.
func (c *catalogCheck) binding(b *AttributeBinding, path string) {
	for i := range c.t.Offerings {
		o := &c.t.Offerings[i]
		label := c.t.LabelOf(o, b.Label)
		_, listed := b.Values[label]
		switch {
		case label == "":
			c.fault("CP-CATALOG-16", "%s.label is %q, of which offering %s has no value: state it, or bind the attribute to another label", path, b.Label, KeyOf(c.t, o))
		case b.Values != nil && !listed:
			c.fault("CP-CATALOG-16", "%s.values lacks %q, which offering %s has for label %q", path, label, KeyOf(c.t, o), b.Label)
		case b.Values == nil && len(label) > resourcev1.DeviceAttributeMaxValueLength:
			c.fault("CP-CATALOG-16", "%s has the value %q on offering %s, which is longer than the %d characters that an attribute can have: give values", path, label, KeyOf(c.t, o), resourcev1.DeviceAttributeMaxValueLength)
		}
	}
}

// ValidateDevicePool checks a pool in the same way as the API server checks ResourceSlices: names must be valid, device names unique, used
// counters present, and amounts valid. The error is nil if the pool is valid; a nil pool is an error.
func ValidateDevicePool(p *DevicePool, path *field.Path) field.ErrorList {
	if p == nil {
		return field.ErrorList{field.Required(path, "a pool is missing: give one")}
	}
	var faults field.ErrorList
	if problems := validation.IsDNS1123Subdomain(p.Driver); p.Driver == "" || len(problems) > 0 || len(p.Driver) > resourcev1.DriverNameMaxLength {
		faults = append(faults, field.Invalid(path.Child("driver"), p.Driver, "must be the name of a driver: a DNS subdomain of at most 63 characters"))
	}
	if p.Suffix != "" && len(validation.IsDNS1123Subdomain("node"+p.Suffix)) > 0 {
		faults = append(faults, field.Invalid(path.Child("suffix"), p.Suffix, "must make the name of a pool when it follows the name of a node"))
	}
	sets, more := counterSets(p, path.Child("sharedCounters"))
	faults = append(faults, more...)
	names := map[string]bool{}
	for i := range p.Devices {
		d, at := &p.Devices[i], path.Child("devices").Index(i)
		if problems := validation.IsDNS1123Label(d.Name); len(problems) > 0 {
			faults = append(faults, field.Invalid(at.Child("name"), d.Name, strings.Join(problems, "; ")))
		}
		if names[d.Name] {
			faults = append(faults, field.Duplicate(at.Child("name"), d.Name))
		}
		names[d.Name] = true
		faults = append(faults, validateDevice(d, sets, at)...)
	}
	return append(faults, p.validateBindings(names, path)...)
}

// counterSets returns the pool's counter sets by name, and their faults.
func counterSets(p *DevicePool, path *field.Path) (map[string]*resourcev1.CounterSet, field.ErrorList) {
	var faults field.ErrorList
	sets := map[string]*resourcev1.CounterSet{}
	for i := range p.SharedCounters {
		set, at := &p.SharedCounters[i], path.Index(i)
		if sets[set.Name] != nil {
			faults = append(faults, field.Duplicate(at.Child("name"), set.Name))
		}
		sets[set.Name] = set
		for _, name := range namesOf(set.Counters) {
			if q := set.Counters[name].Value; q.Sign() < 0 {
				faults = append(faults, field.Invalid(at.Child("counters").Key(name), q.String(), "must not be negative"))
			}
		}
	}
	return sets, faults
}

func validateDevice(d *resourcev1.Device, sets map[string]*resourcev1.CounterSet, path *field.Path) field.ErrorList {
	var faults field.ErrorList
	if d.NodeName != nil || d.NodeSelector != nil || d.AllNodes != nil {
		faults = append(faults, field.Forbidden(path, "must not say which nodes it is for: it is for the instance"))
	}
	if n := len(d.Attributes) + len(d.Capacity); n > resourcev1.ResourceSliceMaxAttributesAndCapacitiesPerDevice {
		faults = append(faults, field.TooMany(path, n, resourcev1.ResourceSliceMaxAttributesAndCapacitiesPerDevice))
	}
	for _, name := range namesOf(d.Attributes) {
		if a := d.Attributes[name]; values(a) != 1 {
			faults = append(faults, field.Invalid(path.Child("attributes").Key(string(name)), fmt.Sprintf("%d values", values(a)), "must have exactly one value"))
		}
	}
	for _, name := range namesOf(d.Capacity) {
		if q := d.Capacity[name].Value; q.Sign() < 0 {
			faults = append(faults, field.Invalid(path.Child("capacity").Key(string(name)), q.String(), "must not be negative"))
		}
	}
	for i := range d.ConsumesCounters {
		c, at := &d.ConsumesCounters[i], path.Child("consumesCounters").Index(i)
		set := sets[c.CounterSet]
		if set == nil {
			faults = append(faults, field.NotFound(at.Child("counterSet"), c.CounterSet))
			continue
		}
		for _, name := range namesOf(c.Counters) {
			if _, ok := set.Counters[name]; !ok {
				faults = append(faults, field.NotFound(at.Child("counters").Key(name), name))
			}
			if q := c.Counters[name].Value; q.Sign() < 0 {
				faults = append(faults, field.Invalid(at.Child("counters").Key(name), q.String(), "must not be negative"))
			}
		}
	}
	return faults
}

// values returns the number of value fields that are set.
func values(a resourcev1.DeviceAttribute) int {
	n := 0
	for _, set := range []bool{a.IntValue != nil, a.BoolValue != nil, a.StringValue != nil, a.VersionValue != nil} {
		if set {
			n++
		}
	}
	return n
}

func namesOf[K ~string, V any](m map[K]V) []K {
	keys := make([]K, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
