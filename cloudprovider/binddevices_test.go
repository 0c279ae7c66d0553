package cloudprovider_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
)

func inZone(zone, capacityType string) *cloudprovider.Offering {
	return &cloudprovider.Offering{Requirements: requirements.NewSet(
		requirements.In(corev1.LabelTopologyZone, zone), requirements.In(v1.CapacityTypeLabelKey, capacityType),
	)}
}

// A bound attribute has the value that the offering's label gives it; what is published otherwise is the type's.
func TestDevicesOf(t *testing.T) {
	number := int64(7)
	it := &cloudprovider.InstanceType{
		Requirements: requirements.NewSet(requirements.In("example.com/rack", "r1")),
		Devices: []cloudprovider.DevicePool{{
			Driver: "gpu.example.com", Devices: []resourcev1.Device{{Name: "gpu-0"}, {Name: "gpu-1"}},
			Bindings: []cloudprovider.AttributeBinding{
				{Attribute: "zone", Label: corev1.LabelTopologyZone},
				{Attribute: "fabric", Label: v1.CapacityTypeLabelKey, Values: map[string]resourcev1.DeviceAttribute{"spot": {IntValue: &number}}, Devices: []string{"gpu-1"}},
				{Attribute: "rack", Label: "example.com/rack"},
			},
		}},
	}
	before := it.DeepCopy()
	text := func(s string) resourcev1.DeviceAttribute { return resourcev1.DeviceAttribute{StringValue: &s} }
	got := it.DevicesOf(inZone("a", "spot"))
	if diff := cmp.Diff([]cloudprovider.DevicePool{{Driver: "gpu.example.com", Devices: []resourcev1.Device{
		{Name: "gpu-0", Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{"zone": text("a"), "rack": text("r1")}},
		{Name: "gpu-1", Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{"zone": text("a"), "rack": text("r1"), "fabric": {IntValue: &number}}},
	}}}, got); diff != "" {
		t.Error(diff)
	}
	if _, has := it.DevicesOf(inZone("a", "on-demand"))[0].Devices[1].Attributes["fabric"]; has {
		t.Error("an attribute has a value for a label value that is not listed")
	}
	if diff := cmp.Diff(before.Devices, it.Devices); diff != "" {
		t.Errorf("the type has changed: %s", diff)
	}
	if labels := it.DeviceLabels(); !slices.Equal(labels, []string{"example.com/rack", v1.CapacityTypeLabelKey, corev1.LabelTopologyZone}) {
		t.Errorf("labels %v", labels)
	}
	plain := &cloudprovider.InstanceType{Devices: []cloudprovider.DevicePool{{Driver: "gpu.example.com"}}}
	if of := plain.DevicesOf(inZone("a", "spot")); &of[0] != &plain.Devices[0] || plain.DeviceLabels() != nil {
		t.Error("pools without bindings are copied")
	}
}
