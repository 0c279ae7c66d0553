package cloudprovider

import (
	"testing"

	resourcev1 "k8s.io/api/resource/v1"
)

// A device and its partitions count once.
func TestDeviceCount(t *testing.T) {
	part := resourcev1.Device{ConsumesCounters: []resourcev1.DeviceCounterConsumption{{CounterSet: "gpu-0"}}}
	for want, p := range map[int64]*DevicePool{
		0: nil,
		2: {Devices: []resourcev1.Device{{}, {}}},
		3: {Devices: []resourcev1.Device{{}, {}, part, part}, SharedCounters: []resourcev1.CounterSet{{Name: "gpu-0"}}},
	} {
		if got := p.Count(); got != want {
			t.Errorf("got %d, want %d", got, want)
		}
	}
	if name := DeviceCount("gpu.example.com"); name != "gpu.example.com/devices" || !IsDeviceCount(name) || IsDeviceCount("nvidia.com/gpu") {
		t.Errorf("%s", name)
	}
}
