package cloudprovider_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
)

// The key of an instance's labels names its hardware if that is not ordinary.
func TestOfferingOfLabels(t *testing.T) {
	c := cloudprovider.Capabilities{HardwareLabels: map[string]string{"b/tenancy": "default", "a/rack": "none"}}
	labels := map[string]string{
		corev1.LabelInstanceTypeStable: "m5.large", corev1.LabelTopologyZone: "a", v1.CapacityTypeLabelKey: "spot", "b/tenancy": "default", "c/else": "x",
	}
	ordinary := cloudprovider.OfferingKey{InstanceType: "m5.large", Zone: "a", CapacityType: "spot"}
	if got := c.OfferingOf(labels); got != ordinary || got.Hardware(c.HardwareLabels) != "" {
		t.Errorf("got %s", got)
	}
	labels["b/tenancy"], labels["a/rack"] = "dedicated", "r1"
	got := c.OfferingOf(labels)
	if got.Others != "a/rack=r1,b/tenancy=dedicated" || got.Hardware(c.HardwareLabels) != got.Others {
		t.Errorf("got %s", got)
	}
	got.Others = "a/rack=r1,c/else=x,topology.k8s.aws/zone-id=z"
	if h := got.Hardware(c.HardwareLabels); h != "a/rack=r1" {
		t.Errorf("the hardware is %q", h)
	}
}

// A label of hardware is well-known and has an ordinary value.
func TestHardwareLabelsAreChecked(t *testing.T) {
	c := testCapabilities()
	key := c.Vocabulary.WellKnown[0]
	c.HardwareLabels = map[string]string{key: "default"}
	for _, ordinary := range []string{"default", ""} {
		if c.HardwareLabels[key] = ordinary; c.Validate() != nil {
			t.Errorf("%q was refused: %v", ordinary, c.Validate())
		}
	}
	for _, bad := range []map[string]string{{key: "not a value"}, {"example.com/unknown": "default"}} {
		c.HardwareLabels = bad
		if c.Validate() == nil {
			t.Errorf("%v was accepted", bad)
		}
	}
}
