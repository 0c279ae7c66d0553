package v1

// Labels on nodes and NodeClaims.
const (
	// NodePoolLabelKey names the pool that owns a NodeClaim or node.
	NodePoolLabelKey = "karpenter.sh/nodepool"
	// CapacityTypeLabelKey says how the instance is bought: see the CapacityType constants.
	CapacityTypeLabelKey = "karpenter.sh/capacity-type"
	// NodeRegisteredLabelKey is "true" on a node once its labels and taints are those of its claim.
	NodeRegisteredLabelKey = "karpenter.sh/registered"
	// NodeInitializedLabelKey is "true" on a node once it is ready for pods.
	NodeInitializedLabelKey = "karpenter.sh/initialized"
	// NodeDoNotSyncTaintsLabelKey is "true" on a node whose taints are managed by the provider alone.
	NodeDoNotSyncTaintsLabelKey = "karpenter.sh/do-not-sync-taints"
	// ExcludeBalancersLabelKey keeps a node that is draining out of external load balancers; its value is
	// ExcludeBalancersLabelValue.
	ExcludeBalancersLabelKey = "node.kubernetes.io/exclude-from-external-load-balancers"
	// ExcludeBalancersLabelValue marks ExcludeBalancersLabelKey as set by node autoscaling.
	ExcludeBalancersLabelValue = "karpenter"
)

// Ways to buy an instance: values of CapacityTypeLabelKey.
const (
	// CapacityTypeSpot is spare capacity that the cloud may reclaim.
	CapacityTypeSpot = "spot"
	// CapacityTypeOnDemand is capacity at list price.
	CapacityTypeOnDemand = "on-demand"
	// CapacityTypeReserved is capacity that was paid for beforehand.
	CapacityTypeReserved = "reserved"
)

// Architectures: values of kubernetes.io/arch.
const (
	// ArchitectureAmd64 is x86-64.
	ArchitectureAmd64 = "amd64"
	// ArchitectureArm64 is 64-bit ARM.
	ArchitectureArm64 = "arm64"
)

// Annotations.
const (
	// DoNotDisruptAnnotationKey opts a pod or node out of voluntary disruption. On a pod: "true", or a positive Go
	// duration counted from the pod's start. On a node: only "true".
	DoNotDisruptAnnotationKey = "karpenter.sh/do-not-disrupt"
	// NodePoolHashAnnotationKey holds the drift hash of the template, on the pool and on each of its claims.
	NodePoolHashAnnotationKey = "karpenter.sh/nodepool-hash"
	// NodePoolHashVersionAnnotationKey holds the version of the drift hash; hashes of different versions can't be
	// compared.
	NodePoolHashVersionAnnotationKey = "karpenter.sh/nodepool-hash-version"
	// NodeClaimTerminationTimestampAnnotationKey holds the moment (RFC 3339) after which a claim no longer waits for
	// its pods.
	NodeClaimTerminationTimestampAnnotationKey = "karpenter.sh/nodeclaim-termination-timestamp"
	// NodeClaimMinValuesRelaxedAnnotationKey is "true" on a claim planned with fewer values than its pool's minValues ask for, and "false"
	// on other claims.
	NodeClaimMinValuesRelaxedAnnotationKey = "karpenter.sh/nodeclaim-min-values-relaxed"
	// RequestedDRADriversAnnotationKey lists the DRA drivers that a claim was planned with: sorted, comma separated.
	RequestedDRADriversAnnotationKey = "karpenter.sh/requested-dra-drivers"
	// PriceOverlayAppliedAnnotationKey is on a claim if an overlay changed the price of one of its instance types.
	PriceOverlayAppliedAnnotationKey = "karpenter.sh/price-overlay-applied"
	// DisruptionCommandAnnotationKey on a claim describes its part in a disruption command that is being executed: see
	// disruption.Record. It is not copied to the node.
	DisruptionCommandAnnotationKey = "drawknife.dev/disruption-command"
	// DisruptionHistoryAnnotationKey on a pool holds recent disruptions of its nodes, which count for budgets with a rate and for
	// cool-downs: see disruption.History.
	DisruptionHistoryAnnotationKey = "drawknife.dev/disruption-history"
	// LaunchGroupAnnotationKey on a claim names the group of claims with which it is launched together or not at all: see LaunchGroup.
	LaunchGroupAnnotationKey = "drawknife.dev/launch-group"
	// LearnedDevicesAnnotationKey on a pool contains the devices that nodes of its instance types have published: see scheduling/learned.
	// Remove the annotation to forget them.
	LearnedDevicesAnnotationKey = "drawknife.dev/learned-devices"
	// SpotMaxShareAnnotationKey on a pod is the largest share of its workload that may be on spot nodes, such as "70%". Package
	// scheduling/spotlimits explains it and the four keys that follow.
	SpotMaxShareAnnotationKey = "drawknife.dev/spot-max-share"
	// OnDemandBaseAnnotationKey on a pod is the number of pods of its workload that must run on nodes that are not spot nodes. Only
	// additional pods of the workload may run on spot nodes.
	OnDemandBaseAnnotationKey = "drawknife.dev/on-demand-base"
	// SpotPoolMaxShareAnnotationKey on a pod is the largest share of its workload on spot nodes of one instance type in one zone.
	SpotPoolMaxShareAnnotationKey = "drawknife.dev/spot-pool-max-share"
	// SpotMaxPriceAnnotationKey on a pod is the highest price of a spot node that may run it, as a share of the on-demand price: "60%".
	SpotMaxPriceAnnotationKey = "drawknife.dev/spot-max-price"
	// WorkloadAnnotationKey makes all pods of a namespace that have it with the same value one workload, even if they have different
	// owners.
	WorkloadAnnotationKey = "drawknife.dev/workload"
	// CapacityOverlayAppliedAnnotationKey is on a claim if an overlay changed the capacity of one of its instance types.
	CapacityOverlayAppliedAnnotationKey = "karpenter.sh/capacity-overlay-applied"
)

// TerminationFinalizer keeps a NodeClaim or node until it is drained and its instance is gone.
const TerminationFinalizer = "karpenter.sh/termination"

// Taints.
const (
	// UnregisteredTaintKey (effect NoExecute, no value) is on a node from boot until its labels and taints are synced.
	UnregisteredTaintKey = "karpenter.sh/unregistered"
	// DisruptedTaintKey (effect NoSchedule, no value) is on a node that is being disrupted.
	DisruptedTaintKey = "karpenter.sh/disrupted"
)

// Condition types. Ready of a NodeClaim depends on all conditions of NodeClaims, except those whose comments say that Ready doesn't depend
// on them.
const (
	// ConditionReady summarises the conditions on which an object depends.
	ConditionReady = "Ready"

	// ConditionValidationSucceeded (NodePool, NodeOverlay): the object was found valid.
	ConditionValidationSucceeded = "ValidationSucceeded"
	// ConditionNodeClassReady (NodePool): the node class it refers to is ready.
	ConditionNodeClassReady = "NodeClassReady"
	// ConditionNodeRegistrationHealthy (NodePool): recently launched instances have registered. Ready doesn't depend on it.
	ConditionNodeRegistrationHealthy = "NodeRegistrationHealthy"
	// ConditionLaunchHealthy (NodePool; Ready doesn't depend on it): the pool's last launch did not fail. It is missing until the
	// first launch.
	ConditionLaunchHealthy = "LaunchHealthy"

	// ConditionLaunched (NodeClaim): the provider has launched the instance.
	ConditionLaunched = "Launched"
	// ConditionRegistered (NodeClaim): the node has joined, and its labels and taints are synced.
	ConditionRegistered = "Registered"
	// ConditionInitialized (NodeClaim): the node is ready for pods.
	ConditionInitialized = "Initialized"
	// ConditionConsolidatable (NodeClaim; Ready doesn't depend on it): consolidateAfter has passed.
	ConditionConsolidatable = "Consolidatable"
	// ConditionDrifted (NodeClaim; Ready doesn't depend on it): the node differs from what its pool asks for.
	ConditionDrifted = "Drifted"
	// ConditionDrained (NodeClaim; Ready doesn't depend on it): all pods that must be evicted have left.
	ConditionDrained = "Drained"
	// ConditionVolumesDetached (NodeClaim; Ready doesn't depend on it): no volume is attached to the node any more.
	ConditionVolumesDetached = "VolumesDetached"
	// ConditionInstanceTerminating (NodeClaim; Ready doesn't depend on it): the provider is terminating the instance.
	ConditionInstanceTerminating = "InstanceTerminating"
	// ConditionConsistentStateFound (NodeClaim; Ready doesn't depend on it): the node matches the claim.
	ConditionConsistentStateFound = "ConsistentStateFound"
	// ConditionDisruptionReason (NodeClaim; Ready doesn't depend on it): why the node is being disrupted.
	ConditionDisruptionReason = "DisruptionReason"
)

// ResourceNodes is the resource name for limits on the number of nodes; each node counts as 1.
const ResourceNodes = "nodes"
