package redact

import (
	resourcev1 "k8s.io/api/resource/v1"
)

func stripResourceClaim(in *resourcev1.ResourceClaim) *resourcev1.ResourceClaim {
	out := &resourcev1.ResourceClaim{
		ObjectMeta: metadata(&in.ObjectMeta), Spec: resourceClaimSpec(&in.Spec), Status: resourcev1.ResourceClaimStatus{ReservedFor: in.Status.ReservedFor},
	}
	if a := in.Status.Allocation; a != nil {
		out.Status.Allocation = &resourcev1.AllocationResult{
			Devices: resourcev1.DeviceAllocationResult{Results: a.Devices.Results}, NodeSelector: a.NodeSelector, AllocationTimestamp: a.AllocationTimestamp,
		}
	}
	return out
}

// resourceClaimSpec leaves out the parameters that only device drivers read.
func resourceClaimSpec(in *resourcev1.ResourceClaimSpec) resourcev1.ResourceClaimSpec {
	return resourcev1.ResourceClaimSpec{Devices: resourcev1.DeviceClaim{Requests: in.Devices.Requests, Constraints: in.Devices.Constraints}}
}
