package learned

import (
	"slices"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/drawknife/drawknife/cloudprovider"
)

// If an attribute is bound to a label, the value that a node publishes is the value of the node's own offering. So such attributes are not
// learned, and corrected types keep the bindings of the provider's types.

// unbound returns the pools without their bindings.
func unbound(pools []cloudprovider.DevicePool) []cloudprovider.DevicePool {
	out := slices.Clone(pools)
	for i := range out {
		out[i].Bindings = nil
	}
	return out
}

// boundAs returns the pools with the bindings of those template pools that have the same suffix. A binding is only added for devices that
// exist in the pool and that don't state a value for the binding's attribute.
func boundAs(pools, stated []cloudprovider.DevicePool) []cloudprovider.DevicePool {
	out := slices.Clone(pools)
	for i := range out {
		at := slices.IndexFunc(stated, func(p cloudprovider.DevicePool) bool { return p.Suffix == out[i].Suffix })
		if at < 0 {
			continue
		}
		for _, b := range stated[at].Bindings {
			if kept, ok := bindingFor(&out[i], b); ok {
				out[i].Bindings = append(out[i].Bindings, kept)
			}
		}
	}
	return out
}

// bindingFor returns the binding for the devices of the pool. It returns false if the pool has none of these devices, or if one of these
// devices states the attribute itself.
func bindingFor(p *cloudprovider.DevicePool, b cloudprovider.AttributeBinding) (cloudprovider.AttributeBinding, bool) {
	states := func(d resourcev1.Device) bool {
		for name := range d.Attributes {
			if attributeOf(p.Driver, name) == attributeOf(p.Driver, b.Attribute) {
				return true
			}
		}
		return false
	}
	if slices.ContainsFunc(p.Devices, states) {
		return b, false
	}
	if b.Devices == nil {
		return b, true
	}
	b.Devices = slices.DeleteFunc(slices.Clone(b.Devices), func(name string) bool {
		return !slices.ContainsFunc(p.Devices, func(d resourcev1.Device) bool { return d.Name == name })
	})
	return b, len(b.Devices) > 0
}
