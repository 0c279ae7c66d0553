package resources

import (
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/scheduling/planning"
)

// Devices of Dynamic Resource Allocation are counted like any other resource: package devices describes these resources.

// devicePrefix is the prefix of the names of resources that count devices. Outside the planner these resources appear only in certificates
// and in sentences for people.
const devicePrefix = planning.DevicesPrefix

// sharePrefix is the prefix of the names of resources that count shares instead of devices. They are for kinds of devices that exclude each
// other, such as a GPU and its partitions.
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
