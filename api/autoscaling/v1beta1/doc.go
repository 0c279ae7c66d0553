// Package v1beta1 contains CapacityBuffer of the API group autoscaling.x-k8s.io. A buffer keeps room free, so that future pods need not
// wait for a new node. It also contains the kind's defaults, validation and conditions, and the annotations of the placeholder pods.
// The package also contains version v1beta1 of ProvisioningRequest; version v1 is in package api/autoscaling/v1. The package does no I/O
// and does not read the clock.
//
//	var buffer v1beta1.CapacityBuffer
//	if err := yaml.UnmarshalStrict(manifest, &buffer); err != nil {
//		return err
//	}
//	buffer.Default()
//	if errs := buffer.Validate(); len(errs) > 0 {
//		return errs.ToAggregate()
//	}
//
// Package scheduling/buffers converts buffers to placeholder pods for planning.
//
// The types have no locks: goroutines may read an object concurrently as long as nobody changes it.
//
// Stability: stable.
package v1beta1
