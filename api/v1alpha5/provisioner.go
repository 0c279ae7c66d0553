package v1alpha5

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/drawknife/drawknife/api/v1beta1"
)

// Provisioner says which nodes may be launched for pending pods, how many, and when they may be removed; later generations call it
// NodePool. It is cluster-scoped.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=provisioners,scope=Cluster,categories=karpenter
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Template",type="string",JSONPath=".spec.providerRef.name"
// +kubebuilder:printcolumn:name="Weight",type="string",JSONPath=".spec.weight",priority=1
type Provisioner struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// Spec is what the user wants.
	// +optional
	Spec ProvisionerSpec `json:"spec,omitzero"`
	// Status is what the controller observed; manifests have none.
	// +optional
	Status ProvisionerStatus `json:"status,omitzero"`
}

// ProvisionerList is a list of Provisioners as an API server returns it.
//
// +kubebuilder:object:root=true
type ProvisionerList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`

	// Items are the Provisioners; their order has no meaning.
	Items []Provisioner `json:"items"`
}

// ProvisionerSpec contains the user's settings of a Provisioner.
//
// +kubebuilder:validation:XValidation:rule="!(has(self.provider) && has(self.providerRef))",message="provider and providerRef exclude each other: leave one of them out"
// +kubebuilder:validation:XValidation:rule="!(has(self.ttlSecondsAfterEmpty) && has(self.consolidation) && has(self.consolidation.enabled) && self.consolidation.enabled)",message="ttlSecondsAfterEmpty excludes consolidation.enabled, which removes empty nodes too: leave one of them out"
type ProvisionerSpec struct {
	// Annotations are put on every node.
	// +optional
	Annotations map[string]string `json:"annotations,omitzero"`
	// Labels are put on every node.
	// +optional
	// +kubebuilder:validation:XValidation:rule="!('karpenter.sh/provisioner-name' in self) && !('karpenter.sh/emptiness-timestamp' in self) && !('kubernetes.io/hostname' in self)",message="this label is set on each node by itself: leave it out"
	Labels map[string]string `json:"labels,omitzero"`
	// Taints are on every node for as long as it lives: a pod must tolerate all of them.
	// +optional
	Taints []corev1.Taint `json:"taints,omitzero"`
	// StartupTaints are on a node when it joins. Another controller is expected to remove them.
	// +optional
	StartupTaints []corev1.Taint `json:"startupTaints,omitzero"`
	// Requirements say which instances are acceptable: all must be met. Nil means any instance.
	// +optional
	Requirements []corev1.NodeSelectorRequirement `json:"requirements,omitzero"`
	// KubeletConfiguration configures the kubelet of every node. Nil leaves all settings to the provider.
	// +optional
	KubeletConfiguration *KubeletConfiguration `json:"kubeletConfiguration,omitempty"`
	// Provider contains the provider's settings inline. Deprecated since 0.13; it excludes ProviderRef.
	// +optional
	// +kubebuilder:pruning:PreserveUnknownFields
	Provider *runtime.RawExtension `json:"provider,omitempty"`
	// ProviderRef names the provider's node template. From 0.24 on, one of Provider and ProviderRef must be set.
	// +optional
	ProviderRef *MachineTemplateRef `json:"providerRef,omitempty"`
	// TTLSecondsAfterEmpty is how many seconds a node must have been empty before it is removed. Nil means that empty nodes are not
	// removed. It excludes consolidation.
	// +optional
	// +kubebuilder:validation:Minimum=0
	TTLSecondsAfterEmpty *int64 `json:"ttlSecondsAfterEmpty,omitempty"`
	// TTLSecondsUntilExpired is how many seconds a node may live before it is replaced. Nil means forever.
	// +optional
	// +kubebuilder:validation:Minimum=0
	TTLSecondsUntilExpired *int64 `json:"ttlSecondsUntilExpired,omitempty"`
	// Limits bound what the Provisioner may launch. Nil means no limits.
	// +optional
	Limits *Limits `json:"limits,omitempty"`
	// Weight orders the Provisioners: planners try a Provisioner with a higher weight first. 1 to 100; nil counts as 0, so it is tried
	// last.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100
	Weight *int32 `json:"weight,omitempty"`
	// Consolidation says whether nodes are removed or replaced if that is cheaper. Nil means no consolidation.
	// +optional
	Consolidation *Consolidation `json:"consolidation,omitempty"`
}

// MachineTemplateRef refers to a provider's node template, which is cluster-scoped.
type MachineTemplateRef struct {
	// APIVersion of the object: group and version, "karpenter.k8s.aws/v1alpha1". Empty means the provider's own.
	// +optional
	APIVersion string `json:"apiVersion,omitempty"`
	// Kind of the object. Empty means the provider's own.
	// +optional
	Kind string `json:"kind,omitempty"`
	// Name of the object.
	// +kubebuilder:validation:MinLength=1
	Name string `json:"name"`
}

// Limits bound what a Provisioner may launch.
type Limits struct {
	// Resources are upper bounds on the sum of the capacity of the nodes, by resource name. Releases up to 0.23 stopped launching nodes
	// when a limit was reached; later releases stopped when it was exceeded.
	// +optional
	Resources corev1.ResourceList `json:"resources,omitzero"`
}

// Consolidation says whether nodes are removed or replaced if that is cheaper.
type Consolidation struct {
	// Enabled switches consolidation on. Nil means off.
	// +optional
	Enabled *bool `json:"enabled,omitempty"`
}

// Consolidates reports whether consolidation is on.
func (p *Provisioner) Consolidates() bool {
	c := p.Spec.Consolidation
	return c != nil && c.Enabled != nil && *c.Enabled
}

// ProvisionerStatus is what the controller observed of a Provisioner.
type ProvisionerStatus struct {
	// Resources is the sum of the capacity of the Provisioner's nodes.
	// +optional
	Resources corev1.ResourceList `json:"resources,omitzero"`
	// LastScaleTime is when a node was last launched. Nil means never.
	// +optional
	LastScaleTime *metav1.Time `json:"lastScaleTime,omitempty"`
	// Conditions of the Provisioner: ConditionActive.
	// +optional
	Conditions []v1beta1.Condition `json:"conditions,omitzero"`
}
