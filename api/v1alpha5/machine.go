package v1alpha5

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/api/v1beta1"
)

// Machine asks for one instance and follows it from launch to termination; later generations call it NodeClaim. It is cluster-scoped.
// Releases before 0.28 did not store it.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=machines,scope=Cluster,categories=karpenter
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Type",type="string",JSONPath=".metadata.labels.node\\.kubernetes\\.io/instance-type"
// +kubebuilder:printcolumn:name="Zone",type="string",JSONPath=".metadata.labels.topology\\.kubernetes\\.io/zone"
// +kubebuilder:printcolumn:name="Node",type="string",JSONPath=".status.nodeName"
// +kubebuilder:printcolumn:name="Ready",type="string",JSONPath=".status.conditions[?(@.type==\"Ready\")].status"
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp"
// +kubebuilder:printcolumn:name="Capacity",type="string",JSONPath=".metadata.labels.karpenter\\.sh/capacity-type",priority=1
// +kubebuilder:printcolumn:name="Provisioner",type="string",JSONPath=".metadata.labels.karpenter\\.sh/provisioner-name",priority=1
// +kubebuilder:printcolumn:name="Template",type="string",JSONPath=".spec.machineTemplateRef.name",priority=1
type Machine struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// Spec says what the node must be like.
	// +optional
	Spec MachineSpec `json:"spec,omitzero"`
	// Status is what the controller observed.
	// +optional
	Status MachineStatus `json:"status,omitzero"`
}

// MachineList is a list of Machines as an API server returns it.
//
// +kubebuilder:object:root=true
type MachineList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`

	// Items are the Machines; their order has no meaning.
	Items []Machine `json:"items"`
}

// MachineSpec says what a node must be like.
type MachineSpec struct {
	// Taints are on the node for as long as it lives.
	// +optional
	Taints []corev1.Taint `json:"taints,omitzero"`
	// StartupTaints are on the node when it joins. Another controller is expected to remove them.
	// +optional
	StartupTaints []corev1.Taint `json:"startupTaints,omitzero"`
	// Requirements say which instances are acceptable: those of the Provisioner, narrowed by the plan.
	// +optional
	Requirements []corev1.NodeSelectorRequirement `json:"requirements,omitzero"`
	// Resources are the minimum that the node must have for pods.
	// +optional
	Resources v1.ResourceRequirements `json:"resources,omitzero"`
	// Kubelet configures the kubelet of the node. Nil leaves all settings to the provider.
	// +optional
	Kubelet *KubeletConfiguration `json:"kubelet,omitempty"`
	// MachineTemplateRef names the provider's node template. Nil for a Machine whose Provisioner has an inline provider
	// block: see ProviderAnnotationKey.
	// +optional
	MachineTemplateRef *MachineTemplateRef `json:"machineTemplateRef,omitempty"`
}

// MachineStatus is what the controller observed of the node and its instance.
type MachineStatus struct {
	// NodeName is the name of the Node; empty until the node has joined.
	// +optional
	NodeName string `json:"nodeName,omitempty"`
	// ProviderID is the provider's name of the instance; empty until the launch.
	// +optional
	ProviderID string `json:"providerID,omitempty"`
	// Capacity is the capacity of the whole node; it is an estimate until the node has joined.
	// +optional
	Capacity corev1.ResourceList `json:"capacity,omitzero"`
	// Allocatable is the part of Capacity that is available to pods; it is an estimate until the node has joined.
	// +optional
	Allocatable corev1.ResourceList `json:"allocatable,omitzero"`
	// Conditions of the Machine: see the Condition constants.
	// +optional
	Conditions []v1beta1.Condition `json:"conditions,omitzero"`
}
