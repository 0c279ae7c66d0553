// Package v1 contains ProvisioningRequest of the API group autoscaling.x-k8s.io. A ProvisioningRequest asks whether a cluster has, or could
// have, room for groups of pods before they are created, for example for a job that Kueue has queued. The package also contains the
// validation of the kind, its conditions, and the annotations of pods that use booked room. It does no I/O and does not read the clock.
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
// The types have no locks: goroutines may read an object concurrently as long as nobody changes it.
//
// Stability: beta.
package v1
