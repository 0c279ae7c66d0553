package v1beta1

// StrategyActiveCapacity is the only provisioning strategy: it keeps room free on running nodes.
const StrategyActiveCapacity = "buffer.x-k8s.io/active-capacity"

// The kinds of workloads whose pod template and replicas a buffer can use.
const (
	// ScalableGroup is the API group of the kinds that a scalableRef may name.
	ScalableGroup = "apps"
	// KindDeployment is a kind that a scalableRef may name.
	KindDeployment = "Deployment"
	// KindReplicaSet is a kind that a scalableRef may name.
	KindReplicaSet = "ReplicaSet"
	// KindStatefulSet is a kind that a scalableRef may name.
	KindStatefulSet = "StatefulSet"
)

// Annotations of placeholder pods, which exist in memory only.
const (
	// PlaceholderAnnotationKey is "true" on every placeholder.
	PlaceholderAnnotationKey = "karpenter.sh/capacity-buffer-fake-pod"
	// BufferNameAnnotationKey names the buffer that a placeholder belongs to.
	BufferNameAnnotationKey = "karpenter.sh/capacity-buffer-name"
	// BufferNamespaceAnnotationKey names the namespace of that buffer.
	BufferNamespaceAnnotationKey = "karpenter.sh/capacity-buffer-namespace"
)

// Conditions of a buffer.
const (
	// ConditionReadyForProvisioning: the buffer's pods are known.
	ConditionReadyForProvisioning = "ReadyForProvisioning"
	// ConditionProvisioning: in the last pass, existing nodes had room for all of the buffer's pods.
	ConditionProvisioning = "Provisioning"
)

// Reasons of ConditionReadyForProvisioning.
const (
	// ReasonResolved (True): the template was found and the pods were counted.
	ReasonResolved = "Resolved"
	// ReasonPodTemplateNotFound (False): there is no PodTemplate of that name in the buffer's namespace.
	ReasonPodTemplateNotFound = "PodTemplateNotFound"
	// ReasonScalableRefNotFound (False): there is no such Deployment, ReplicaSet or StatefulSet in the buffer's
	// namespace.
	ReasonScalableRefNotFound = "ScalableRefNotFound"
	// ReasonResolutionFailed (False): the buffer is invalid.
	ReasonResolutionFailed = "ResolutionFailed"
)

// Reasons of ConditionProvisioning.
const (
	// ReasonFitsExistingCapacity (True): existing nodes have room for all placeholders.
	ReasonFitsExistingCapacity = "FitsExistingCapacity"
	// ReasonRequiresNewCapacity (False): some placeholders need a new node.
	ReasonRequiresNewCapacity = "RequiresNewCapacity"
	// ReasonBufferEmpty (False): the buffer has no pods.
	ReasonBufferEmpty = "BufferEmpty"
	// ReasonNotReadyForProvisioning (False): see ConditionReadyForProvisioning.
	ReasonNotReadyForProvisioning = "NotReadyForProvisioning"
	// ReasonAwaitingReconciliation (Unknown): nobody has written the condition yet.
	ReasonAwaitingReconciliation = "AwaitingReconciliation"
)
