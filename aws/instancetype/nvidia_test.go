package instancetype_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/drawknife/drawknife/aws/instancetype"
	"github.com/drawknife/drawknife/cloudprovider"
)

// CP-CATALOG-16: with NVIDIA's driver in place of its device plugin, instances publish a device for each whole GPU of a known model, and have no
// extended resource; without it nothing changes.
func TestNVIDIADevices(t *testing.T) {
	c := embedded(t)
	plugin, driver := resolve(t, c, instancetype.Settings{}), resolve(t, c, instancetype.Settings{DeviceDrivers: map[string]string{instancetype.DevicesNVIDIA: instancetype.NVIDIADriver}})
	for _, test := range []struct {
		typeName        string
		devices         int
		product, memory string
	}{
		{"p4d.24xlarge", 8, "NVIDIA A100-SXM4-40GB", "40Gi"},
		{"p5.48xlarge", 8, "NVIDIA H100 80GB HBM3", "81559Mi"},
		{"g6.12xlarge", 4, "NVIDIA L4", "22888Mi"},
		{"g4dn.xlarge", 1, "Tesla T4", "15Gi"},
		{"g6f.large", 0, "", ""},
		{"m5.large", 0, "", ""},
	} {
		if n := len(plugin[test.typeName].Devices); n > 0 {
			t.Errorf("%s publishes %d pools with the device plugin", test.typeName, n)
		}
		it := driver[test.typeName]
		if got := quantity(it.Capacity, instancetype.ResourceNVIDIAGPU); test.devices > 0 && got != "0" && got != "(not listed)" {
			t.Errorf("%s has %s of the device plugin's resource", test.typeName, got)
		}
		if test.devices == 0 {
			if len(it.Devices) > 0 {
				t.Errorf("%s publishes %v", test.typeName, it.Devices)
			}
			continue
		}
		if len(it.Devices) != 1 || it.Devices[0].Driver != "gpu.nvidia.com" || len(it.Devices[0].Devices) != test.devices {
			t.Errorf("%s publishes %v, want %d devices", test.typeName, it.Devices, test.devices)
			continue
		}
		d := it.Devices[0].Devices[test.devices-1]
		memory := d.Capacity["memory"].Value
		if *d.Attributes["productName"].StringValue != test.product || memory.String() != test.memory || *d.Attributes["type"].StringValue != "gpu" {
			t.Errorf("%s publishes %s with %s", test.typeName, *d.Attributes["productName"].StringValue, memory.String())
		}
	}
	for name, it := range driver {
		for i := range it.Devices {
			if faults := cloudprovider.ValidateDevicePool(&it.Devices[i], field.NewPath("devices")); len(faults) > 0 {
				t.Errorf("%s: %v", name, faults)
			}
		}
	}
}
