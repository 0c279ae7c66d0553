package v1beta1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// CapacityBuffer asks to keep room free for pods that don't exist yet. It says how many pods, and which requests they have.
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
	// Status is what the controller observed; manifests have none.
	// +optional
	Status CapacityBufferStatus `json:"status,omitzero"`
}

// CapacityBufferList is a list of CapacityBuffers as an API server returns it.
//
// +kubebuilder:object:root=true
type CapacityBufferList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`

	// Items are the buffers; their order has no meaning.
	Items []CapacityBuffer `json:"items"`
}

// CapacityBufferSpec says how much room to keep free. The number of pods is the larger of Replicas and Percentage, reduced to what fits in
// Limits. If Replicas and Percentage are missing, it is the number of pods that fits in Limits, or 0 without Limits.
//
// +kubebuilder:validation:XValidation:rule="has(self.podTemplateRef) != has(self.scalableRef)",message="give exactly one of podTemplateRef and scalableRef"
// +kubebuilder:validation:XValidation:rule="!has(self.podTemplateRef) || has(self.replicas) || has(self.limits) && size(self.limits) > 0",message="say by replicas or limits how many pods of the PodTemplate there shall be room for"
type CapacityBufferSpec struct {
	// ProvisioningStrategy says how room is kept. The only known strategy, and the default, is StrategyActiveCapacity.
	// +optional
	// +kubebuilder:validation:Enum=buffer.x-k8s.io/active-capacity
	// +kubebuilder:default:="buffer.x-k8s.io/active-capacity"
	ProvisioningStrategy *string `json:"provisioningStrategy,omitempty"`
	// PodTemplateRef names the PodTemplate of the buffer's pods, in the buffer's namespace. With PodTemplateRef, Replicas or Limits must be
	// set. Exactly one of PodTemplateRef and ScalableRef is set.
	// +optional
	PodTemplateRef *LocalObjectRef `json:"podTemplateRef,omitempty"`
	// ScalableRef names the workload, in the buffer's namespace, whose pod template the buffer's pods have.
	// +optional
	ScalableRef *ScalableRef `json:"scalableRef,omitempty"`
	// Replicas is a number of pods, not negative. Nil means that the number of pods is not set directly.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Replicas *int32 `json:"replicas,omitempty"`
	// Percentage is the number of pods as a percentage of the replicas of the workload of ScalableRef, rounded up. It must not be negative,
	// and may be more than 100. Nil means that the number of pods is not set as a percentage. It has no effect together with
	// PodTemplateRef.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Percentage *int32 `json:"percentage,omitempty"`
	// Limits are upper bounds on the sum of the requests of the pods, by resource. A resource that is not listed is not limited, and
	// limits on resources that the pods don't request have no effect. Nil means no limits.
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

// CapacityBufferStatus is what the controller observed of a buffer.
type CapacityBufferStatus struct {
	// PodTemplateRef names the PodTemplate that was used. Nil for a buffer with ScalableRef, or if no PodTemplate was found.
	// +optional
	PodTemplateRef *LocalObjectRef `json:"podTemplateRef,omitempty"`
	// Replicas is the number of the buffer's pods; nil if it is not known.
	// +optional
	Replicas *int32 `json:"replicas,omitempty"`
	// PodTemplateGeneration is the generation of the PodTemplate that was used.
	// +optional
	PodTemplateGeneration *int64 `json:"podTemplateGeneration,omitempty"`
	// Conditions of the buffer: see the Condition constants.
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitzero"`
	// ProvisioningStrategy is the strategy that was used.
	// +optional
	ProvisioningStrategy *string `json:"provisioningStrategy,omitempty"`
}

// Default sets the provisioning strategy if it is unset. Applying it twice has no further effect.
func (b *CapacityBuffer) Default() {
	if b.Spec.ProvisioningStrategy == nil {
		strategy := StrategyActiveCapacity
		b.Spec.ProvisioningStrategy = &strategy
	}
}

// Strategy returns the provisioning strategy, or its default.
func (b *CapacityBuffer) Strategy() string {
	if b.Spec.ProvisioningStrategy == nil {
		return StrategyActiveCapacity
	}
	return *b.Spec.ProvisioningStrategy
}
