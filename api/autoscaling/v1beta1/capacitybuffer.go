package v1beta1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// CapacityBuffer asks for room for pods that don't exist yet: how many, and of which shape.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=capacitybuffers,scope=Namespaced,shortName=cb,categories=autoscaling
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Strategy",type="string",JSONPath=".spec.provisioningStrategy"
// +kubebuilder:printcolumn:name="PodTemplate",type="string",JSONPath=".status.podTemplateRef.name"
// +kubebuilder:printcolumn:name="Replicas",type="integer",JSONPath=".status.replicas"
// +kubebuilder:printcolumn:name="Ready",type="string",JSONPath=".status.conditions[?(@.type==\"ReadyForProvisioning\")].status"
// +kubebuilder:printcolumn:name="Provisioning",type="string",JSONPath=".status.conditions[?(@.type==\"Provisioning\")].reason"
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp"
type CapacityBuffer struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// Spec is what the user wants.
	Spec CapacityBufferSpec `json:"spec"`
	// Status is what was observed; a manifest has none.
	// +optional
	Status CapacityBufferStatus `json:"status,omitzero"`
}

// CapacityBufferList is a list of CapacityBuffers as an API server returns it.
//
// +kubebuilder:object:root=true
type CapacityBufferList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`

	// Items are the buffers; their order carries no meaning.
	Items []CapacityBuffer `json:"items"`
}

// CapacityBufferSpec says how much room to keep free. It is that of max(Replicas, Percentage) pods, cut down to what fits in
// Limits; of as many as fit in Limits when neither size is given; of none when there are no Limits either.
//
// +kubebuilder:validation:XValidation:rule="has(self.podTemplateRef) != has(self.scalableRef)",message="give exactly one of podTemplateRef and scalableRef"
// +kubebuilder:validation:XValidation:rule="!has(self.podTemplateRef) || has(self.replicas) || has(self.limits) && size(self.limits) > 0",message="say by replicas or limits how many pods of the PodTemplate there shall be room for"
type CapacityBufferSpec struct {
	// ProvisioningStrategy says how room is kept. Only StrategyActiveCapacity is known, and unset reads as that.
	// +optional
	// +kubebuilder:validation:Enum=buffer.x-k8s.io/active-capacity
	// +kubebuilder:default:="buffer.x-k8s.io/active-capacity"
	ProvisioningStrategy *string `json:"provisioningStrategy,omitempty"`
	// PodTemplateRef names the PodTemplate, in the buffer's namespace, that its pods are made from. Needs Replicas or
	// Limits. Exactly one of PodTemplateRef and ScalableRef is set.
	// +optional
	PodTemplateRef *LocalObjectRef `json:"podTemplateRef,omitempty"`
	// ScalableRef names the workload, in the buffer's namespace, whose pod template its pods are made from.
	// +optional
	ScalableRef *ScalableRef `json:"scalableRef,omitempty"`
	// Replicas is a number of pods, not negative. Nil asks for none by number.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Replicas *int32 `json:"replicas,omitempty"`
	// Percentage is a number of pods as a share of the replicas that the workload of ScalableRef wants, rounded up;
	// not negative, and may be more than 100. Nil asks for none by share. It has no effect together with PodTemplateRef.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Percentage *int32 `json:"percentage,omitempty"`
	// Limits bound the sum of the requests of the pods, by resource. A resource that is not named is not limited, nor
	// is one that the pods don't request; nil limits nothing.
	// +optional
	Limits corev1.ResourceList `json:"limits,omitzero"`
}

// LocalObjectRef names an object in the buffer's namespace.
type LocalObjectRef struct {
	// Name of the object.
	// +kubebuilder:validation:MinLength=1
	Name string `json:"name"`
}

// ScalableRef names a workload in the buffer's namespace.
type ScalableRef struct {
	// APIGroup of the workload, without a version: ScalableGroup.
	// +optional
	// +kubebuilder:validation:Enum=apps
	APIGroup string `json:"apiGroup,omitempty"`
	// Kind of the workload: KindDeployment, KindReplicaSet or KindStatefulSet.
	// +kubebuilder:validation:Enum=Deployment;ReplicaSet;StatefulSet
	Kind string `json:"kind"`
	// Name of the workload.
	// +kubebuilder:validation:MinLength=1
	Name string `json:"name"`
}

// CapacityBufferStatus is what was observed of a buffer.
type CapacityBufferStatus struct {
	// PodTemplateRef names the PodTemplate that was used. Nil for a buffer of a workload, or when none was found.
	// +optional
	PodTemplateRef *LocalObjectRef `json:"podTemplateRef,omitempty"`
	// Replicas is how many pods the buffer stands for. Nil when that could not be said.
	// +optional
	Replicas *int32 `json:"replicas,omitempty"`
	// PodTemplateGeneration is the generation of the PodTemplate that was used.
	// +optional
	PodTemplateGeneration *int64 `json:"podTemplateGeneration,omitempty"`
	// Conditions of the buffer: see the Condition constants.
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitzero"`
	// ProvisioningStrategy is the one that was used.
	// +optional
	ProvisioningStrategy *string `json:"provisioningStrategy,omitempty"`
}

// Default fills in what the buffer leaves out: the provisioning strategy. Applying it twice is applying it once.
func (b *CapacityBuffer) Default() {
	if b.Spec.ProvisioningStrategy == nil {
		strategy := StrategyActiveCapacity
		b.Spec.ProvisioningStrategy = &strategy
	}
}

// Strategy is the provisioning strategy, default included.
func (b *CapacityBuffer) Strategy() string {
	if b.Spec.ProvisioningStrategy == nil {
		return StrategyActiveCapacity
	}
	return *b.Spec.ProvisioningStrategy
}
