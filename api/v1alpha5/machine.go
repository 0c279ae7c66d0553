package v1alpha5

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/api/v1beta1"
)

// Machine is one machine: asked for, launched, joined, and at last taken away; later generations call it NodeClaim. It is
// cluster-scoped. Releases before 0.28 did not store it.
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

	// Spec is what the machine must be.
	// +optional
	Spec MachineSpec `json:"spec,omitzero"`
	// Status is what was observed of it.
	// +optional
	Status MachineStatus `json:"status,omitzero"`
}

// MachineList is a list of Machines as an API server returns it.
//
// +kubebuilder:object:root=true
type MachineList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`

	// Items are the Machines; their order carries no meaning.
	Items []Machine `json:"items"`
}

// MachineSpec is what a machine must be.
type MachineSpec struct {
	// Taints are on the node for as long as it lives.
	// +optional
	Taints []corev1.Taint `json:"taints,omitzero"`
	// StartupTaints are on the node when it joins and something else is expected to take them away.
	// +optional
	StartupTaints []corev1.Taint `json:"startupTaints,omitzero"`
	// Requirements say which machines will do: those of the Provisioner, narrowed by what was planned.
	// +optional
	Requirements []corev1.NodeSelectorRequirement `json:"requirements,omitzero"`
	// Resources is the least the machine must have for pods.
	// +optional
	Resources v1.ResourceRequirements `json:"resources,omitzero"`
	// Kubelet configures the kubelet of the node. Nil leaves all to the provider.
	// +optional
	Kubelet *KubeletConfiguration `json:"kubelet,omitempty"`
	// MachineTemplateRef names the provider's node template. Nil for a Machine whose Provisioner has an inline provider
	// block: see ProviderAnnotationKey.
	// +optional
	MachineTemplateRef *MachineTemplateRef `json:"machineTemplateRef,omitempty"`
}

// MachineStatus is what was observed of the node and its instance.
type MachineStatus struct {
	// NodeName is the name of the Node it joined as; empty until it has joined.
	// +optional
	NodeName string `json:"nodeName,omitempty"`
	// ProviderID is the provider's name for the instance; empty until it was launched.
	// +optional
	ProviderID string `json:"providerID,omitempty"`
	// Capacity is the whole machine, estimated until the node has joined.
	// +optional
	Capacity corev1.ResourceList `json:"capacity,omitzero"`
	// Allocatable is the part of Capacity that pods can have, estimated until the node has joined.
	// +optional
	Allocatable corev1.ResourceList `json:"allocatable,omitzero"`
	// Conditions of the Machine: see the Condition constants.
	// +optional
	Conditions []v1beta1.Condition `json:"conditions,omitzero"`
}
