package cloudprovider_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/drawknife/drawknife/cloudprovider"
)

func gpuPool(change func(*cloudprovider.DevicePool)) *cloudprovider.DevicePool {
	model := "A100"
	p := &cloudprovider.DevicePool{
		Driver: "gpu.example.com",
		Devices: []resourcev1.Device{{
			Name: "gpu-0", Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{"model": {StringValue: &model}},
			Capacity:         map[resourcev1.QualifiedName]resourcev1.DeviceCapacity{"memory": {Value: resource.MustParse("40Gi")}},
			ConsumesCounters: []resourcev1.DeviceCounterConsumption{{CounterSet: "gpu-0", Counters: map[string]resourcev1.Counter{"memory": {Value: resource.MustParse("40Gi")}}}},
		}},
		SharedCounters: []resourcev1.CounterSet{{Name: "gpu-0", Counters: map[string]resourcev1.Counter{"memory": {Value: resource.MustParse("40Gi")}}}},
	}
	if change != nil {
		change(p)
	}
	return p
}

// binding is a valid one, changed.
func binding(change func(*cloudprovider.AttributeBinding)) []cloudprovider.AttributeBinding {
	b := cloudprovider.AttributeBinding{Attribute: "zone", Label: "topology.kubernetes.io/zone"}
	if change != nil {
		change(&b)
	}
	return []cloudprovider.AttributeBinding{b}
}

// CP-CATALOG-16: what no driver could publish is named with its path.
func TestValidateDevicePool(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*cloudprovider.DevicePool)
		want   string
	}{
		"good":            {nil, ""},
		"no driver":       {func(p *cloudprovider.DevicePool) { p.Driver = "" }, "devices[0].driver"},
		"a suffix":        {func(p *cloudprovider.DevicePool) { p.Suffix = "_" }, "devices[0].suffix"},
		"a name":          {func(p *cloudprovider.DevicePool) { p.Devices[0].Name = "GPU 0" }, "devices[0].devices[0].name"},
		"a name twice":    {func(p *cloudprovider.DevicePool) { p.Devices = append(p.Devices, p.Devices[0]) }, "devices[0].devices[1].name"},
		"a set twice":     {func(p *cloudprovider.DevicePool) { p.SharedCounters = append(p.SharedCounters, p.SharedCounters[0]) }, "devices[0].sharedCounters[1].name"},
		"no such set":     {func(p *cloudprovider.DevicePool) { p.SharedCounters = nil }, "devices[0].devices[0].consumesCounters[0].counterSet"},
		"no such counter": {func(p *cloudprovider.DevicePool) { p.SharedCounters[0].Counters = nil }, "devices[0].devices[0].consumesCounters[0].counters[memory]"},
		"for a node":      {func(p *cloudprovider.DevicePool) { n := "n"; p.Devices[0].NodeName = &n }, "devices[0].devices[0]"},
		"no value":        {func(p *cloudprovider.DevicePool) { p.Devices[0].Attributes["x"] = resourcev1.DeviceAttribute{} }, "devices[0].devices[0].attributes[x]"},
		"a negative capacity": {func(p *cloudprovider.DevicePool) {
			p.Devices[0].Capacity["memory"] = resourcev1.DeviceCapacity{Value: resource.MustParse("-1")}
		}, "devices[0].devices[0].capacity[memory]"},
		"a negative counter": {func(p *cloudprovider.DevicePool) {
			p.SharedCounters[0].Counters["memory"] = resourcev1.Counter{Value: resource.MustParse("-1")}
		}, "devices[0].sharedCounters[0].counters[memory]"},
		"a bound attribute": {func(p *cloudprovider.DevicePool) { p.Bindings = binding(nil) }, ""},
		"a binding of nothing": {func(p *cloudprovider.DevicePool) {
			p.Bindings = binding(func(b *cloudprovider.AttributeBinding) { b.Attribute = "" })
		}, "devices[0].bindings[0].attribute"},
		"a binding to no label": {func(p *cloudprovider.DevicePool) {
			p.Bindings = binding(func(b *cloudprovider.AttributeBinding) { b.Label = "" })
		}, "devices[0].bindings[0].label"},
		"a binding of no device": {func(p *cloudprovider.DevicePool) {
			p.Bindings = binding(func(b *cloudprovider.AttributeBinding) { b.Devices = []string{"gpu-7"} })
		}, "devices[0].bindings[0].devices"},
		"a bound attribute without a value": {func(p *cloudprovider.DevicePool) {
			p.Bindings = binding(func(b *cloudprovider.AttributeBinding) { b.Values = map[string]resourcev1.DeviceAttribute{"a": {}} })
		}, "devices[0].bindings[0].values[a]"},
		"a bound attribute of a long value": {func(p *cloudprovider.DevicePool) {
			long := strings.Repeat("x", 65)
			p.Bindings = binding(func(b *cloudprovider.AttributeBinding) {
				b.Values = map[string]resourcev1.DeviceAttribute{"a": {StringValue: &long}}
			})
		}, "devices[0].bindings[0].values[a]"},
		"a stated attribute is bound": {func(p *cloudprovider.DevicePool) {
			p.Bindings = binding(func(b *cloudprovider.AttributeBinding) { b.Attribute = "gpu.example.com/model" })
		}, "devices[0].bindings[0].attribute"},
		"an attribute is bound twice": {func(p *cloudprovider.DevicePool) { p.Bindings = append(binding(nil), binding(nil)...) }, "devices[0].bindings[1].attribute"},
		"a negative draw": {func(p *cloudprovider.DevicePool) {
			p.Devices[0].ConsumesCounters[0].Counters["memory"] = resourcev1.Counter{Value: resource.MustParse("-1")}
		}, "devices[0].devices[0].consumesCounters[0].counters[memory]"},
	} {
		t.Run(name, func(t *testing.T) {
			faults := cloudprovider.ValidateDevicePool(gpuPool(c.change), field.NewPath("devices").Index(0))
			var got []string
			for _, f := range faults {
				got = append(got, f.Field)
			}
			if strings.Join(got, " ") != c.want {
				t.Errorf("got %v, want %s", faults, c.want)
			}
		})
	}
}

func TestDeepCopyOfDevices(t *testing.T) {
	bound := func(p *cloudprovider.DevicePool) {
		value := "x"
		p.Bindings = binding(func(b *cloudprovider.AttributeBinding) {
			b.Devices, b.Values = []string{"gpu-0"}, map[string]resourcev1.DeviceAttribute{"a": {StringValue: &value}}
		})
	}
	it := &cloudprovider.InstanceType{Devices: []cloudprovider.DevicePool{*gpuPool(bound)}}
	c := it.DeepCopy()
	if diff := cmp.Diff(it.Devices, c.Devices); diff != "" {
		t.Fatal(diff)
	}
	c.Devices[0].Devices[0].Capacity["memory"] = resourcev1.DeviceCapacity{}
	c.Devices[0].SharedCounters[0].Counters["memory"] = resourcev1.Counter{}
	c.Devices[0].Bindings[0].Devices[0] = "gpu-1"
	*c.Devices[0].Bindings[0].Values["a"].StringValue = "y"
	if diff := cmp.Diff(gpuPool(bound), &it.Devices[0]); diff != "" {
		t.Errorf("the copy shares memory: %s", diff)
	}
}
