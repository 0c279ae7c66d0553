// Package v1beta1 holds CapacityBuffer of the API group autoscaling.x-k8s.io: room that a user wants kept free, so that
// pods to come need not wait for a machine. It has the kind's defaults, its validation, its conditions and the
// annotations of the pods that stand for the room. ProvisioningRequest is that of package api/autoscaling/v1, under the name of the
// version before. The package does no I/O and reads no clock.
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
// Package scheduling/buffers turns buffers into pods to plan with.
//
// The types carry no locks: an object may be read by many goroutines at once as long as nobody changes it.
//
// Stability: stable.
package v1beta1
