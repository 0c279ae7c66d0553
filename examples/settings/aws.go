package settings

import (
	"maps"
	"time"

	"github.com/drawknife/drawknife/aws/instancetype"
)

// defaultBurstLaunches must be equal to aws.DefaultBurstLaunches, because this package does not import the provider.
const defaultBurstLaunches = 10

// AWS are the settings of the AWS provider.
type AWS struct {
	// ClusterName is the name of the EKS cluster, or the name in the tags of its nodes. Required for ProviderAWS.
	ClusterName string
	// ClusterEndpoint is the URL of the API server for new nodes; if empty, it is read from EKS.
	ClusterEndpoint string
	// ClusterCABundle is the certificate authority of the API server in base64; if empty, it is read from EKS.
	ClusterCABundle string
	// DiscoverCluster means that the version of the cluster is read from EKS and not from the API server. False by default.
	DiscoverCluster bool
	// IsolatedVPC means that services without a VPC endpoint can't be reached, such as the price list. False by default.
	IsolatedVPC bool
	// VMMemoryOverheadPercent is the assumed fraction of a node's memory that the hypervisor takes, from 0 to below 1; 0.075 by
	// default.
	VMMemoryOverheadPercent float64
	// InterruptionQueue is the name of the SQS queue of interruption notices; empty, which is the default, means no queue.
	InterruptionQueue string
	// ReservedENIs is the number of network interfaces of a node that are not used for addresses of pods, at least 0; 0 by default.
	ReservedENIs int64
	// BurstLaunches is the minimum number of equal launches for which one CreateFleet call launches all of them, at least 2; 0 means never.
	// 10 by default.
	BurstLaunches int
	// PrefixDelegation and CustomNetworking describe how the VPC CNI assigns addresses to pods, like its ENABLE_PREFIX_DELEGATION and
	// AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG. These settings determine the number of pods for which a node has addresses. False by default.
	PrefixDelegation, CustomNetworking bool
	// WithoutPodENI means that the CNI provides no branch interfaces. False by default.
	WithoutPodENI bool
	// MeasuredMemory estimates the memory overhead of types without a known node from measurements, instead of
	// VMMemoryOverheadPercent. False by default.
	MeasuredMemory bool
	// FractionalGPUs counts a part of a GPU as one GPU. False by default.
	FractionalGPUs bool
	// DeviceDrivers are the drivers of Dynamic Resource Allocation that run instead of device plugins, by the kind of their devices:
	// nvidia, efa, neuron. Nil: none.
	DeviceDrivers map[string]string
	// NVIDIAMIG makes GPUs offer partitions, and NVIDIAShares lets claims share them, like the configuration of NVIDIA's driver: see
	// instancetype.Settings. The defaults are false and none.
	NVIDIAMIG    bool
	NVIDIAShares string
	// DeviceResources are names of extended resources, by the name that EC2 gives to a device. HugePages are quantities that nodes reserve
	// at boot, by resource name. Nil: none.
	DeviceResources, HugePages map[string]string
	// DisableDryRun skips the dry runs that check node classes. False by default.
	DisableDryRun bool
	// EnableZonalShift means that no nodes are launched in a zone while an ARC zonal shift moves the cluster away from it. False by
	// default.
	EnableZonalShift bool
	// Commitments means that planning counts the account's Savings Plans and Reserved Instances. CostExplorer asks Cost Explorer how much
	// of them the whole account uses, and for discounts; this costs some cents a day. False by default. See docs/costs.md.
	Commitments, CostExplorer bool
	// CommitmentReports is a directory that the clusters of the account share. Each cluster reports its use of commitments there. Empty,
	// the default, means that reports are in Process.HistoryConfigMap, if this is set.
	CommitmentReports string
	// SpotScoreConfigurations is the number of sets of instance types for which EC2 is asked for spot placement scores within 24 hours; 0,
	// the default, means none. It has no effect without Planning.SpotRisk.
	SpotScoreConfigurations int
	// AMIRefreshInterval and SubnetRefreshInterval are how often images and subnets are searched, at least 1 minute, which is the
	// default.
	AMIRefreshInterval, SubnetRefreshInterval time.Duration
	// Partition is the AWS partition; "aws" by default. It must be a known partition, but has no other effect: the region determines the
	// partition.
	Partition string
	// Region is the region in which nodes are launched; empty means that the SDK determines it.
	Region string
	// Legacy are settings that apply only to v1alpha5 objects; nil if none is set.
	Legacy *Legacy
}

func defaultAWS() AWS {
	return AWS{
		VMMemoryOverheadPercent: instancetype.DefaultVMMemoryOverheadPercent,
		BurstLaunches:           defaultBurstLaunches,
		AMIRefreshInterval:      time.Minute, SubnetRefreshInterval: time.Minute, Partition: "aws",
	}
}

// Legacy are settings for v1alpha5 objects and their conversion.
type Legacy struct {
	// DefaultInstanceProfile is the instance profile of node templates that do not name an instance profile; empty means none.
	DefaultInstanceProfile string
	// EnablePodENI makes nodes report the resource vpc.amazonaws.com/pod-eni, which counts branch interfaces for pods. False by default.
	EnablePodENI bool
	// EnableENILimitedPodDensity means that a node's network interfaces determine its number of pods; true by default. See DefaultMaxPods.
	EnableENILimitedPodDensity bool
	// NodeNameConvention is the expected form of node names; NodeNameIP by default.
	NodeNameConvention NodeNameConvention
	// Tags are added to all created resources. Tags of a node template with the same key take precedence. Nil: none.
	Tags map[string]string
	// AssumeRoleARN and AssumeRoleDuration are the role that was formerly used for AWS calls. They have no effect, because the process's
	// own credentials are used. The defaults are empty and 15 minutes.
	AssumeRoleARN      string
	AssumeRoleDuration time.Duration
}

// DefaultLegacy returns the defaults of Legacy.
func DefaultLegacy() Legacy {
	return Legacy{EnableENILimitedPodDensity: true, NodeNameConvention: NodeNameIP, AssumeRoleDuration: 15 * time.Minute}
}

// fixedPodDensity is the pod limit of a node if network interfaces don't limit it: the kubelet's default.
const fixedPodDensity = 110

// DefaultMaxPods is the default of maxPods for v1alpha1 templates. It is nil if network interfaces determine the number of pods, and if l
// is nil.
func (l *Legacy) DefaultMaxPods() *int32 {
	if l == nil || l.EnableENILimitedPodDensity {
		return nil
	}
	pods := int32(fixedPodDensity)
	return &pods
}

// TagsFor returns the tags of resources for a template. The given tags of the template take precedence. The caller owns the map.
func (l *Legacy) TagsFor(template map[string]string) map[string]string {
	tags := make(map[string]string, len(template))
	if l != nil {
		maps.Copy(tags, l.Tags)
	}
	maps.Copy(tags, template)
	return tags
}

// NodeNameConvention is the expected form of node names before registration.
type NodeNameConvention string

const (
	// NodeNameIP is the node's private DNS name, derived from its address.
	NodeNameIP NodeNameConvention = "ip-name"
	// NodeNameResource is derived from the instance's ID.
	NodeNameResource NodeNameConvention = "resource-name"
)
