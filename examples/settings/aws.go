package settings

import (
	"maps"
	"time"

	"github.com/drawknife/drawknife/aws/instancetype"
)

// AWS is what the AWS provider needs.
type AWS struct {
	// ClusterName is the cluster's name at EKS, or the one its nodes are tagged with. Required for ProviderAWS.
	ClusterName string
	// ClusterEndpoint is the URL that new nodes reach the API server at; empty: EKS is asked.
	ClusterEndpoint string
	// ClusterCABundle is the certificate authority of the API server in base64; empty: the controller's own.
	ClusterCABundle string
	// DiscoverCluster has EKS asked for the version and the details of the cluster. False by default.
	DiscoverCluster bool
	// IsolatedVPC says that services without an endpoint in the network can't be reached: no price list. False by default.
	IsolatedVPC bool
	// VMMemoryOverheadPercent is the fraction of a node's memory that is believed to be lost to the hypervisor, from 0 to
	// below 1; 0.075 by default.
	VMMemoryOverheadPercent float64
	// InterruptionQueue is the name of the SQS queue with notices of interruptions; empty, the default: none.
	InterruptionQueue string
	// ReservedENIs are network interfaces of a node that pods get no addresses from, at least 0; 0 by default.
	ReservedENIs int64
	// PrefixDelegation and CustomNetworking say how the VPC CNI gives pods addresses, as its own ENABLE_PREFIX_DELEGATION and
	// AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG do: they decide how many pods a node has addresses for. False by default.
	PrefixDelegation, CustomNetworking bool
	// WithoutPodENI says that the CNI serves no branch interfaces. False by default.
	WithoutPodENI bool
	// MeasuredMemory bounds the memory that hypervisor and kernel keep by what was measured, instead of VMMemoryOverheadPercent, for
	// types that no node was seen of. False by default.
	MeasuredMemory bool
	// FractionalGPUs has nodes with a part of a GPU offer it as one. False by default.
	FractionalGPUs bool
	// DeviceDrivers are the drivers of Dynamic Resource Allocation that run in place of device plugins, by the kind of their devices: nvidia, efa, neuron. Nil: none.
	DeviceDrivers map[string]string
	// NVIDIAMIG has GPUs offer partitions, and NVIDIAShares claims share them, as NVIDIA's driver is set up: see instancetype.Settings. False and none by default.
	NVIDIAMIG    bool
	NVIDIAShares string
	// DeviceResources name extended resources by EC2's name of a device; HugePages are quantities that nodes set aside at boot, by
	// resource name. Nil: none.
	DeviceResources, HugePages map[string]string
	// DisableDryRun leaves out the dry runs that node classes are checked with. False by default.
	DisableDryRun bool
	// EnableZonalShift keeps out of zones that ARC shifts the cluster away from. False by default.
	EnableZonalShift bool
	// AMIRefreshInterval and SubnetRefreshInterval are how often images and subnets are looked for, at least 1 minute, which
	// is the default.
	AMIRefreshInterval, SubnetRefreshInterval time.Duration
	// Partition that ARNs and names of services are made for; "aws" by default.
	Partition string
	// Region that nodes are launched in; empty: the SDK's own ways of finding it are used.
	Region string
	// Legacy are settings that only objects of the oldest generation follow; nil when none of them is set.
	Legacy *Legacy
}

func defaultAWS() AWS {
	return AWS{
		VMMemoryOverheadPercent: instancetype.DefaultVMMemoryOverheadPercent,
		AMIRefreshInterval:      time.Minute, SubnetRefreshInterval: time.Minute, Partition: "aws",
	}
}

// Legacy are settings for objects that were written for v1alpha5, and for what converts them.
type Legacy struct {
	// DefaultInstanceProfile is that of node templates without one; empty: none.
	DefaultInstanceProfile string
	// EnablePodENI has nodes report branch interfaces for pods. False by default.
	EnablePodENI bool
	// EnableENILimitedPodDensity derives the pods of a node from its network interfaces; true by default. See
	// DefaultMaxPods.
	EnableENILimitedPodDensity bool
	// NodeNameConvention is how nodes are expected to be named; NodeNameIP by default.
	NodeNameConvention NodeNameConvention
	// Tags are put on everything that is made, unless a node template has the same key. Nil: none.
	Tags map[string]string
	// AssumeRoleARN and AssumeRoleDuration are the role that calls of AWS were made with, for information: credentials are
	// those of the process. Empty, and 15 minutes by default.
	AssumeRoleARN      string
	AssumeRoleDuration time.Duration
}

// DefaultLegacy is what Legacy fields are that nobody set.
func DefaultLegacy() Legacy {
	return Legacy{EnableENILimitedPodDensity: true, NodeNameConvention: NodeNameIP, AssumeRoleDuration: 15 * time.Minute}
}

// fixedPodDensity is how many pods a node had when its interfaces did not decide: the kubelet's default.
const fixedPodDensity = 110

// DefaultMaxPods is what maxPods is for templates of the oldest generation that have none: nil when network interfaces
// decide, as they do for a nil Legacy.
func (l *Legacy) DefaultMaxPods() *int32 {
	if l == nil || l.EnableENILimitedPodDensity {
		return nil
	}
	pods := int32(fixedPodDensity)
	return &pods
}

// TagsFor are the tags of what is made for a template with the tags given: the template's win. The map is the caller's.
func (l *Legacy) TagsFor(template map[string]string) map[string]string {
	tags := make(map[string]string, len(template))
	if l != nil {
		maps.Copy(tags, l.Tags)
	}
	maps.Copy(tags, template)
	return tags
}

// NodeNameConvention is how nodes are expected to be named before they register.
type NodeNameConvention string

const (
	// NodeNameIP is the node's private DNS name, made of its address.
	NodeNameIP NodeNameConvention = "ip-name"
	// NodeNameResource is made of the instance's ID.
	NodeNameResource NodeNameConvention = "resource-name"
)
