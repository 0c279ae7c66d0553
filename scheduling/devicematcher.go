package scheduling

import (
	resourcev1 "k8s.io/api/resource/v1"
)

// DeviceMatcher evaluates the CEL selectors of DeviceClasses and of requests for devices. Module scheduling/dra contains one. It must give
// the same answer each time, and be safe for concurrent use.
type DeviceMatcher interface {
	// Matches reports whether the expression is true for the driver's device. The error says why the expression has no value. The device
	// must not be changed.
	Matches(expression, driver string, device *resourcev1.Device) (bool, error)
}
