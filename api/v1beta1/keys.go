package v1beta1

// Annotations of v1 objects with the content of v1beta1 fields that v1 does not have.
const (
	// KubeletAnnotationKey holds, on a v1 NodePool or NodeClaim, the kubelet block of the v1beta1 object as JSON. It overrides the
	// kubelet block of the node class.
	KubeletAnnotationKey = "compatibility.karpenter.sh/v1beta1-kubelet-conversion"
	// NodeClassReferenceAnnotationKey holds, on a v1 NodePool or NodeClaim, the node class reference of the v1beta1 object
	// as JSON.
	NodeClassReferenceAnnotationKey = "compatibility.karpenter.sh/v1beta1-nodeclass-reference"
)

// Older annotations that still work in v1beta1, in addition to karpenter.sh/do-not-disrupt.
const (
	// DoNotConsolidateAnnotationKey prevents voluntary disruption of a node.
	DoNotConsolidateAnnotationKey = "karpenter.sh/do-not-consolidate"
	// DoNotEvictAnnotationKey prevents voluntary disruption of a pod and of its node.
	DoNotEvictAnnotationKey = "karpenter.sh/do-not-evict"
)

// Condition types of a NodeClaim. Conditions that also exist in v1 have the same names there.
const (
	// ConditionReady summarises Launched, Registered and Initialized.
	ConditionReady = "Ready"
	// ConditionLaunched: the provider has launched the instance.
	ConditionLaunched = "Launched"
	// ConditionRegistered: the node has joined.
	ConditionRegistered = "Registered"
	// ConditionInitialized: the node is ready for pods.
	ConditionInitialized = "Initialized"
	// ConditionEmpty: the node holds no pods that would have to move. v1 does not have it.
	ConditionEmpty = "Empty"
	// ConditionDrifted: the node no longer matches its pool.
	ConditionDrifted = "Drifted"
	// ConditionExpired: the node has lived for expireAfter. v1 does not have it.
	ConditionExpired = "Expired"
)
