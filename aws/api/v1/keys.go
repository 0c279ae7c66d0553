package v1

// Labels of instance types: facts about the hardware, as EC2 states them.
const (
	// LabelInstanceHypervisor is the hypervisor: "nitro", "xen", or "" for bare metal.
	LabelInstanceHypervisor = "karpenter.k8s.aws/instance-hypervisor"
	// LabelInstanceEncryptionInTransitSupported is "true" when traffic between such instances is encrypted.
	LabelInstanceEncryptionInTransitSupported = "karpenter.k8s.aws/instance-encryption-in-transit-supported"
	// LabelInstanceCategory is the letters before the generation: "m" in m5.large.
	LabelInstanceCategory = "karpenter.k8s.aws/instance-category"
	// LabelInstanceFamily is the part before the dot: "m5" in m5.large.
	LabelInstanceFamily = "karpenter.k8s.aws/instance-family"
	// LabelInstanceGeneration is the number in the family: "5" in m5.large.
	LabelInstanceGeneration = "karpenter.k8s.aws/instance-generation"
	// LabelInstanceSize is the part after the dot: "large" in m5.large.
	LabelInstanceSize = "karpenter.k8s.aws/instance-size"
	// LabelInstanceLocalNVME is the size of the local NVMe disks in GB.
	LabelInstanceLocalNVME = "karpenter.k8s.aws/instance-local-nvme"
	// LabelInstanceCPU is the number of vCPUs.
	LabelInstanceCPU = "karpenter.k8s.aws/instance-cpu"
	// LabelInstanceCPUManufacturer is the maker of the processor: "intel", "amd", "aws".
	LabelInstanceCPUManufacturer = "karpenter.k8s.aws/instance-cpu-manufacturer"
	// LabelInstanceCPUSustainedClockSpeedMhz is the sustained clock speed of the processor, in MHz.
	LabelInstanceCPUSustainedClockSpeedMhz = "karpenter.k8s.aws/instance-cpu-sustained-clock-speed-mhz"
	// LabelInstanceMemory is the memory in MiB.
	LabelInstanceMemory = "karpenter.k8s.aws/instance-memory"
	// LabelInstanceEBSBandwidth is the bandwidth to EBS in Mbit/s.
	LabelInstanceEBSBandwidth = "karpenter.k8s.aws/instance-ebs-bandwidth"
	// LabelInstanceNetworkBandwidth is the baseline bandwidth of the network in Mbit/s.
	LabelInstanceNetworkBandwidth = "karpenter.k8s.aws/instance-network-bandwidth"
	// LabelInstanceGPUName is the model of the GPUs.
	LabelInstanceGPUName = "karpenter.k8s.aws/instance-gpu-name"
	// LabelInstanceGPUManufacturer is the maker of the GPUs.
	LabelInstanceGPUManufacturer = "karpenter.k8s.aws/instance-gpu-manufacturer"
	// LabelInstanceGPUCount is the number of GPUs.
	LabelInstanceGPUCount = "karpenter.k8s.aws/instance-gpu-count"
	// LabelInstanceGPUMemory is the memory of one GPU in MiB.
	LabelInstanceGPUMemory = "karpenter.k8s.aws/instance-gpu-memory"
	// LabelInstanceAcceleratorName is the model of the accelerators.
	LabelInstanceAcceleratorName = "karpenter.k8s.aws/instance-accelerator-name"
	// LabelInstanceAcceleratorManufacturer is the maker of the accelerators.
	LabelInstanceAcceleratorManufacturer = "karpenter.k8s.aws/instance-accelerator-manufacturer"
	// LabelInstanceAcceleratorCount is the number of accelerators.
	LabelInstanceAcceleratorCount = "karpenter.k8s.aws/instance-accelerator-count"
	// LabelNitroSandbox is "true" when the type can run Nitro enclaves.
	LabelNitroSandbox = "karpenter.k8s.aws/nitro-sandbox"
	// LabelInstanceCapabilityFlex is "true" for flex types, which don't guarantee full processor performance.
	LabelInstanceCapabilityFlex = "karpenter.k8s.aws/instance-capability-flex"
)

// Labels of offerings and of where an instance runs.
const (
	// LabelInstanceTenancy says whether the hardware is shared: see the Tenancy constants.
	LabelInstanceTenancy = "karpenter.k8s.aws/instance-tenancy"
	// LabelCapacityReservationID is the reservation an instance is in.
	LabelCapacityReservationID = "karpenter.k8s.aws/capacity-reservation-id"
	// LabelCapacityReservationType is the kind of that reservation.
	LabelCapacityReservationType = "karpenter.k8s.aws/capacity-reservation-type"
	// LabelCapacityReservationInterruptible is "true" if the owner of that reservation may reclaim instances.
	LabelCapacityReservationInterruptible = "karpenter.k8s.aws/capacity-reservation-interruptible"
	// LabelPlacementGroupID is the placement group an instance is in.
	LabelPlacementGroupID = "karpenter.k8s.aws/placement-group-id"
	// LabelPlacementGroupPartition is the partition of that group.
	LabelPlacementGroupPartition = "karpenter.k8s.aws/placement-group-partition"
	// LabelTopologyZoneID is the id of the availability zone, the same in every account.
	LabelTopologyZoneID = "topology.k8s.aws/zone-id"
	// LabelNodeClass names the EC2NodeClass of a claim or node. EC2 resources that are created for the class have a tag with this key.
	LabelNodeClass = "karpenter.k8s.aws/ec2nodeclass"
)

// Values of LabelInstanceTenancy.
const (
	// TenancyDefault is hardware shared with other accounts.
	TenancyDefault = "default"
	// TenancyDedicated is hardware of this account alone.
	TenancyDedicated = "dedicated"
	// TenancyHost is a Dedicated Host of this account. Only EC2NodeClasses choose it: see EC2NodeClassSpec.Placement.
	TenancyHost = "host"
)

// WellKnownLabels returns the label keys that every AWS instance type or offering states, in addition to those of Kubernetes and of
// package api/requirements. The slice is sorted and owned by the caller.
func WellKnownLabels() []string {
	return []string{
		LabelCapacityReservationID,
		LabelCapacityReservationInterruptible,
		LabelCapacityReservationType,
		LabelInstanceAcceleratorCount,
		LabelInstanceAcceleratorManufacturer,
		LabelInstanceAcceleratorName,
		LabelInstanceCapabilityFlex,
		LabelInstanceCategory,
		LabelInstanceCPU,
		LabelInstanceCPUManufacturer,
		LabelInstanceCPUSustainedClockSpeedMhz,
		LabelInstanceEBSBandwidth,
		LabelInstanceEncryptionInTransitSupported,
		LabelInstanceFamily,
		LabelInstanceGeneration,
		LabelInstanceGPUCount,
		LabelInstanceGPUManufacturer,
		LabelInstanceGPUMemory,
		LabelInstanceGPUName,
		LabelInstanceHypervisor,
		LabelInstanceLocalNVME,
		LabelInstanceMemory,
		LabelInstanceNetworkBandwidth,
		LabelInstanceSize,
		LabelInstanceTenancy,
		LabelNitroSandbox,
		LabelPlacementGroupID,
		LabelPlacementGroupPartition,
		LabelTopologyZoneID,
	}
}

// Annotations.
const (
	// AnnotationHash holds the drift hash, on the node class and on each claim of the class.
	AnnotationHash = "karpenter.k8s.aws/ec2nodeclass-hash"
	// AnnotationHashVersion holds the version of the drift hash; hashes of different versions can't be compared.
	AnnotationHashVersion = "karpenter.k8s.aws/ec2nodeclass-hash-version"
	// AnnotationDeviceDrivers on a node class names the device drivers that run on its nodes, and overrides the setting of the
	// controller. It is a list such as "nvidia=gpu.nvidia.com,efa=dra.net", or empty if device plugins serve all devices.
	AnnotationDeviceDrivers = "drawknife.dev/device-drivers"
	// AnnotationWarmPool on a node class is how many stopped instances are kept for later claims instead of being terminated: "3". See
	// docs/launching.md.
	AnnotationWarmPool = "drawknife.dev/warm-pool"
	// AnnotationNVIDIAConsumableCapacity on a node class is the value of the setting consumableShares of NVIDIA's driver on its nodes.
	AnnotationNVIDIAConsumableCapacity = "karpenter.k8s.aws/nvidia-consumable-capacity"
	// AnnotationInstanceTagged is "true" on a claim whose instance carries the tags that are known only after launch.
	AnnotationInstanceTagged = "karpenter.k8s.aws/tagged"
	// AnnotationClusterNameTagged is "true" on a claim whose instance carries the cluster's name as a tag.
	AnnotationClusterNameTagged = "compatibility.karpenter.k8s.aws/cluster-name-tagged"
	// AnnotationInstanceProfileName holds, on a claim, the profile its instance was launched with.
	AnnotationInstanceProfileName = "karpenter.k8s.aws/instance-profile-name"
)

// TerminationFinalizer keeps a node class until no claim refers to it and the AWS resources made for it are deleted.
const TerminationFinalizer = "karpenter.k8s.aws/termination"

// RestrictedLabelDomain is the domain whose labels users may not set, except for the well-known ones.
const RestrictedLabelDomain = "karpenter.k8s.aws"

// Tags on all resources created for a launch; users may not set them.
const (
	// TagClusterPrefix plus the cluster's name is the tag, with value "owned", of all resources of the cluster.
	TagClusterPrefix = "kubernetes.io/cluster/"
	// TagClusterName holds the cluster's name.
	TagClusterName = "eks:eks-cluster-name"
	// TagNodePool holds the pool's name.
	TagNodePool = "karpenter.sh/nodepool"
	// TagNodeClaim holds the claim's name.
	TagNodeClaim = "karpenter.sh/nodeclaim"
	// TagNodeClass holds the node class' name.
	TagNodeClass = LabelNodeClass
	// TagProvisioner holds the Provisioner's name on instances of Provisioners, instead of TagNodePool.
	TagProvisioner = "karpenter.sh/provisioner-name"
	// TagManagedBy holds the cluster's name on instances of Provisioners, instead of TagClusterName.
	TagManagedBy = "karpenter.sh/managed-by"
	// TagName is the name shown in the AWS console; users may set it.
	TagName = "Name"
)

// Condition types of an EC2NodeClass.
const (
	// ConditionReady summarises all other conditions.
	ConditionReady = "Ready"
	// ConditionSubnetsReady: the terms match at least one subnet.
	ConditionSubnetsReady = "SubnetsReady"
	// ConditionSecurityGroupsReady: the terms match at least one security group.
	ConditionSecurityGroupsReady = "SecurityGroupsReady"
	// ConditionAMIsReady: the terms match at least one image.
	ConditionAMIsReady = "AMIsReady"
	// ConditionInstanceProfileReady: the instance profile exists.
	ConditionInstanceProfileReady = "InstanceProfileReady"
	// ConditionPlacementGroupReady: the placement group exists, or the class names none.
	ConditionPlacementGroupReady = "PlacementGroupReady"
	// ConditionCapacityReservationsReady: the capacity reservations were resolved. Only if reserved capacity is in use.
	ConditionCapacityReservationsReady = "CapacityReservationsReady"
	// ConditionValidationSucceeded: the node class is valid and EC2 permits launching its instances.
	ConditionValidationSucceeded = "ValidationSucceeded"
)
