package cloudprovider

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// deviceCountSuffix is the end of the names of resources that count the devices of a driver.
const deviceCountSuffix = "/devices"

// DeviceCount returns the resource that counts the devices of a driver, "gpu.nvidia.com/devices" for instance. If a provider lists this
// resource in InstanceType.Capacity, the limits of NodePools can restrict the number of such devices. Nodes don't report the resource, and
// pods can't request it. The amount for a node is the amount in its NodeClaim.
func DeviceCount(driver string) corev1.ResourceName {
	return corev1.ResourceName(driver + deviceCountSuffix)
}

// IsDeviceCount reports whether DeviceCount returns this resource for a driver.
func IsDeviceCount(name corev1.ResourceName) bool {
	return strings.HasSuffix(string(name), deviceCountSuffix)
}

// Count returns the number of devices in the pool. A device and its partitions, which share a set of counters, are counted as one device.
// The result is 0 for a nil pool.
func (p *DevicePool) Count() int64 {
	if p == nil {
		return 0
	}
	n := int64(len(p.SharedCounters))
	for i := range p.Devices {
		if len(p.Devices[i].ConsumesCounters) == 0 {
			n++
		}
	}
	return n
}
