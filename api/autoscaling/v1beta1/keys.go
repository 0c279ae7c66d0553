package v1beta1

// StrategyActiveCapacity is the one provisioning strategy: machines run, and room on them is kept free.
const StrategyActiveCapacity = "buffer.x-k8s.io/active-capacity"

// What a buffer can take the shape and size of its pods from.
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
	// ConditionReadyForProvisioning: it is known which pods the buffer stands for.
	ConditionReadyForProvisioning = "ReadyForProvisioning"
	// ConditionProvisioning: the last pass found room for all of the buffer on machines that are there.
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
	// ReasonResolutionFailed (False): the buffer can't be made sense of.
	ReasonResolutionFailed = "ResolutionFailed"
)

// Reasons of ConditionProvisioning.
const (
	// ReasonFitsExistingCapacity (True): all placeholders have room on machines that are there.
	ReasonFitsExistingCapacity = "FitsExistingCapacity"
	// ReasonRequiresNewCapacity (False): some placeholders need a machine that is not there yet.
	ReasonRequiresNewCapacity = "RequiresNewCapacity"
	// ReasonBufferEmpty (False): the buffer stands for no pods at all.
	ReasonBufferEmpty = "BufferEmpty"
	// ReasonNotReadyForProvisioning (False): see ConditionReadyForProvisioning.
	ReasonNotReadyForProvisioning = "NotReadyForProvisioning"
	// ReasonAwaitingReconciliation (Unknown): nobody has written the condition yet.
	ReasonAwaitingReconciliation = "AwaitingReconciliation"
)
