package resources

import (
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/scheduling/planning"
)

// Devices of Dynamic Resource Allocation are counted like any other resource: package devices describes these resources.

// devicePrefix is the prefix of the names of resources that count devices. Outside the planner they appear only in certificates and
// sentences.
const devicePrefix = planning.DevicesPrefix

// sharePrefix is the prefix of the names of resources that count shares of kinds that exclude each other, instead of devices.
const sharePrefix = planning.DeviceSharesPrefix

// Devices returns the resource that counts the devices with this name.
func Devices(name string) corev1.ResourceName { return corev1.ResourceName(devicePrefix + name) }

// CountsDevices reports whether the resource counts devices.
func CountsDevices(name corev1.ResourceName) bool {
	return strings.HasPrefix(string(name), devicePrefix)
}

// CountsShares reports whether amounts of the resource are shares instead of numbers of devices. For example, a GPU and its partitions have
// shares of a common total.
func CountsShares(name corev1.ResourceName) bool { return strings.HasPrefix(string(name), sharePrefix) }

// Hidden reports whether the resource exists only in the planner: no node's capacity contains it.
func Hidden(name corev1.ResourceName) bool { return Attaches(name) || CountsDevices(name) }
