package cloudprovider

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// AttributeBinding gives devices an attribute whose value depends on the launched offering, for example the zone or the id of a
// reservation. If ResourceClaims select devices by this attribute, or require devices with equal values, only offerings with suitable
// values remain possible.
type AttributeBinding struct {
	// Attribute is the name of the attribute in resourcev1.Device.Attributes. The devices of the pool must not have this attribute
	// themselves.
	Attribute resourcev1.QualifiedName `json:"attribute"`
	// Label is the key of a label that the type or each of its offerings states, such as topology.kubernetes.io/zone,
	// karpenter.sh/capacity-type or the label of a reservation.
	Label string `json:"label"`
	// Values maps the label's value to the attribute's value. If nil, the attribute is a string with the label's value.
	Values map[string]resourcev1.DeviceAttribute `json:"values,omitempty"`
	// Devices are the names of the devices with the attribute. If nil, all devices of the pool have it.
	Devices []string `json:"devices,omitempty"`
}

// value returns the attribute for a value of the label. It returns false if the binding has no attribute for that value.
func (b *AttributeBinding) value(label string) (resourcev1.DeviceAttribute, bool) {
	if b.Values != nil {
		a, ok := b.Values[label]
		return a, ok
	}
	return resourcev1.DeviceAttribute{StringValue: &label}, label != ""
}

// concerns reports whether the device with this name has the attribute.
func (b *AttributeBinding) concerns(device string) bool {
	return b.Devices == nil || slices.Contains(b.Devices, device)
}

// LabelOf returns the value of a label on instances bought by the offering. It uses the offering's requirement for the label, or else the
// type's. The value is empty if that requirement does not have exactly one value.
func (t *InstanceType) LabelOf(o *Offering, key string) string {
	if o != nil && o.Requirements.Has(key) {
		return o.Value(key)
	}
	return single(t.Requirements, key)
}

// DeviceLabels returns the keys of the labels that determine attributes of the type's devices. The keys are sorted and without duplicates.
// Nil means none.
func (t *InstanceType) DeviceLabels() []string {
	var keys []string
	for i := range t.Devices {
		for j := range t.Devices[i].Bindings {
			keys = append(keys, t.Devices[i].Bindings[j].Label)
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// DevicesOf returns the device pools of an instance bought by the offering: the type's pools, with the values of all bound attributes. If
// no pool has bindings, it returns the field Devices itself. Callers must not change the result.
func (t *InstanceType) DevicesOf(o *Offering) []DevicePool {
	return BindDevices(t.Devices, func(key string) string { return t.LabelOf(o, key) })
}

// BindDevices replaces the bindings of the pools by attributes, with the values for a node with the given labels. label returns "" for a
// label that the node lacks; a nil label means a node without labels. If no pool has bindings, it returns the pools themselves. Callers
// must not change the pools or the result.
func BindDevices(pools []DevicePool, label func(key string) string) []DevicePool {
	if !slices.ContainsFunc(pools, func(p DevicePool) bool { return len(p.Bindings) > 0 }) {
		return pools
	}
	if label == nil {
		label = func(string) string { return "" }
	}
	out := slices.Clone(pools)
	for i := range out {
		out[i].bind(label)
	}
	return out
}

// bind replaces the bindings of the pool by attributes in copies of its devices.
func (p *DevicePool) bind(label func(key string) string) {
	if len(p.Bindings) == 0 {
		return
	}
	p.Devices = slices.Clone(p.Devices)
	for i := range p.Devices {
		d := &p.Devices[i]
		d.Attributes = maps.Clone(d.Attributes)
		for j := range p.Bindings {
			b := &p.Bindings[j]
			value, ok := b.value(label(b.Label))
			if !ok || !b.concerns(d.Name) {
				continue
			}
			if d.Attributes == nil {
				d.Attributes = map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{}
			}
			d.Attributes[b.Attribute] = value
		}
	}
	p.Bindings = nil
}

// validateBindings checks the bindings of a pool. names are the names of the pool's devices.
func (p *DevicePool) validateBindings(names map[string]bool, path *field.Path) field.ErrorList {
	var faults field.ErrorList
	bound := map[string]bool{}
	for i := range p.Bindings {
		b, at := &p.Bindings[i], path.Child("bindings").Index(i)
		if b.Attribute == "" {
			faults = append(faults, field.Required(at.Child("attribute"), "name the attribute"))
		}
		if problems := validation.IsQualifiedName(b.Label); len(problems) > 0 {
			faults = append(faults, field.Invalid(at.Child("label"), b.Label, strings.Join(problems, "; ")))
		}
		for _, name := range b.Devices {
			if !names[name] {
				faults = append(faults, field.NotFound(at.Child("devices"), name))
			}
		}
		for _, label := range namesOf(b.Values) {
			a, here := b.Values[label], at.Child("values").Key(label)
			if n := values(a); n != 1 {
				faults = append(faults, field.Invalid(here, fmt.Sprintf("%d values", n), "must have exactly one value"))
			}
			if text := textValue(a); len(text) > resourcev1.DeviceAttributeMaxValueLength {
				faults = append(faults, field.TooLong(here, text, resourcev1.DeviceAttributeMaxValueLength))
			}
		}
		faults = append(faults, p.boundTwice(b, bound, at.Child("attribute"))...)
	}
	return faults
}

// boundTwice returns an error if a device already has the binding's attribute, either as its own or by an earlier binding, or if the device
// gets too many attributes.
func (p *DevicePool) boundTwice(b *AttributeBinding, bound map[string]bool, path *field.Path) field.ErrorList {
	for i := range p.Devices {
		d := &p.Devices[i]
		if !b.concerns(d.Name) {
			continue
		}
		key := d.Name + " " + p.qualified(b.Attribute)
		for name := range d.Attributes {
			bound[d.Name+" "+p.qualified(name)] = true
		}
		if bound[key] {
			return field.ErrorList{field.Duplicate(path, fmt.Sprintf("%s of device %s", b.Attribute, d.Name))}
		}
		bound[key] = true
		if n := len(d.Attributes) + len(d.Capacity) + p.bindingsOf(d.Name); n > resourcev1.ResourceSliceMaxAttributesAndCapacitiesPerDevice {
			return field.ErrorList{field.TooMany(path, n, resourcev1.ResourceSliceMaxAttributesAndCapacitiesPerDevice)}
		}
	}
	return nil
}

// bindingsOf returns the number of bindings that apply to the device.
func (p *DevicePool) bindingsOf(device string) int {
	n := 0
	for i := range p.Bindings {
		if p.Bindings[i].concerns(device) {
			n++
		}
	}
	return n
}

// qualified returns an attribute's name with its domain. If the name has no domain, the domain is the driver's name.
func (p *DevicePool) qualified(name resourcev1.QualifiedName) string {
	if strings.Contains(string(name), "/") {
		return string(name)
	}
	return p.Driver + "/" + string(name)
}

// textValue returns the value of a string or version attribute, or "" for other kinds.
func textValue(a resourcev1.DeviceAttribute) string {
	switch {
	case a.StringValue != nil:
		return *a.StringValue
	case a.VersionValue != nil:
		return *a.VersionValue
	}
	return ""
}
