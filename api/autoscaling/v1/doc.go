// Package v1 holds ProvisioningRequest of the API group autoscaling.x-k8s.io: a question whether there is, or could be, room for
// groups of pods that somebody is about to create, such as Kueue for a queued job. It has the kind's validation, its
// conditions, and the annotations of the pods that use what was answered. It does no I/O and reads no clock.
//
//	var request v1.ProvisioningRequest
//	if err := yaml.UnmarshalStrict(manifest, &request); err != nil {
//		return err
//	}
//	if errs := request.Validate(); len(errs) > 0 {
//		return errs.ToAggregate()
//	}
//
// Package scheduling/requests answers requests.
//
// The types carry no locks: an object may be read by many goroutines at once as long as nobody changes it.
//
// Stability: beta.
package v1
