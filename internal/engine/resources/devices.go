package resources

import (
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/scheduling/planning"
)

// Devices of Dynamic Resource Allocation are counted like any other resource: see package devices, which says what is counted.

// devicePrefix begins the names of these resources; they never leave the planner but for certificates and sentences.
const devicePrefix = planning.DevicesPrefix

// sharePrefix goes on with the names of those that count no devices, but what kinds that exclude each other weigh.
const sharePrefix = planning.DeviceSharesPrefix

// Devices is the resource that counts devices, by what they are called.
func Devices(name string) corev1.ResourceName { return corev1.ResourceName(devicePrefix + name) }

// CountsDevices reports whether the resource counts devices.
func CountsDevices(name corev1.ResourceName) bool {
	return strings.HasPrefix(string(name), devicePrefix)
}

// CountsShares reports whether an amount of the resource is no number of devices: of a GPU and its partitions each has a share of what there
// is of them together.
func CountsShares(name corev1.ResourceName) bool { return strings.HasPrefix(string(name), sharePrefix) }

// Hidden reports whether the resource is the planner's own: no node's capacity has it.
func Hidden(name corev1.ResourceName) bool { return Attaches(name) || CountsDevices(name) }
