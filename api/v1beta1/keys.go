package v1beta1

// Annotations of v1 objects that hold what a v1beta1 object said and v1 has no place for.
const (
	// KubeletAnnotationKey holds, on a v1 NodePool or NodeClaim, the kubelet block of the v1beta1 object as JSON. While
	// it is there it wins over the kubelet block of the node class.
	KubeletAnnotationKey = "compatibility.karpenter.sh/v1beta1-kubelet-conversion"
	// NodeClassReferenceAnnotationKey holds, on a v1 NodePool or NodeClaim, the node class reference of the v1beta1 object
	// as JSON.
	NodeClassReferenceAnnotationKey = "compatibility.karpenter.sh/v1beta1-nodeclass-reference"
)

// Older annotations that still work in v1beta1, in addition to karpenter.sh/do-not-disrupt.
const (
	// DoNotConsolidateAnnotationKey opts a node out of voluntary disruption.
	DoNotConsolidateAnnotationKey = "karpenter.sh/do-not-consolidate"
	// DoNotEvictAnnotationKey opts a pod, and the node it is on, out of voluntary disruption.
	DoNotEvictAnnotationKey = "karpenter.sh/do-not-evict"
)

// Condition types of a NodeClaim. Those that v1 has too have the same names there.
const (
	// ConditionReady is the roll-up of Launched, Registered and Initialized.
	ConditionReady = "Ready"
	// ConditionLaunched: the provider has launched the machine.
	ConditionLaunched = "Launched"
	// ConditionRegistered: the machine has joined.
	ConditionRegistered = "Registered"
	// ConditionInitialized: the node is ready for pods.
	ConditionInitialized = "Initialized"
	// ConditionEmpty: the node holds no pods that would have to move. Gone in v1.
	ConditionEmpty = "Empty"
	// ConditionDrifted: the node no longer is what its pool asks for.
	ConditionDrifted = "Drifted"
	// ConditionExpired: the node has lived for expireAfter. Gone in v1.
	ConditionExpired = "Expired"
)
