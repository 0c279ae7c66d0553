package launchtemplate

import (
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	corev1 "k8s.io/api/core/v1"

	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
)

// cpus returns the cores of an instance and the threads of each, if the class chooses one of them. The capacity of t has the resulting
// number of vCPUs: the value that the class does not choose follows from that number. Both are 0 if the class chooses nothing.
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

// cpuOptions returns the settings of the processor; nil leaves them to EC2.
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
