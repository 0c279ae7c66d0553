package launchtemplate

import (
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	corev1 "k8s.io/api/core/v1"

	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
)

// cpus returns the number of cores of an instance and of threads per core, or 0 and 0 if the class sets neither. If the class sets only one
// of them, cpus computes the other one from the number of vCPUs in t's capacity.
func (p *plan) cpus(t *cloudprovider.InstanceType) (cores, threads int32) {
	o := p.NodeClass.Spec.CPUOptions
	if o == nil || o.CoreCount == nil && o.ThreadsPerCore == nil {
		return 0, 0
	}
	quantity := t.Capacity[corev1.ResourceCPU]
	vcpus := int32(min(quantity.Value(), 1<<20))
	switch {
	case o.CoreCount == nil:
		threads = max(1, *o.ThreadsPerCore)
		return vcpus / threads, threads
	case o.ThreadsPerCore == nil:
		cores = max(1, *o.CoreCount)
		return cores, vcpus / cores
	}
	return *o.CoreCount, *o.ThreadsPerCore
}

// cpuOptions returns the settings of the processor; nil means that EC2's defaults apply.
func cpuOptions(o *awsv1.CPUOptions, g group) *ec2types.LaunchTemplateCpuOptionsRequest {
	if o == nil || o.NestedVirtualization == nil && g.cores == 0 {
		return nil
	}
	request := &ec2types.LaunchTemplateCpuOptionsRequest{}
	if o.NestedVirtualization != nil {
		request.NestedVirtualization = ec2types.NestedVirtualizationSpecification(*o.NestedVirtualization)
	}
	if g.cores > 0 {
		request.CoreCount, request.ThreadsPerCore = &g.cores, &g.threads
	}
	return request
}
