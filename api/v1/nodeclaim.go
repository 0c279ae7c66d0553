package v1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// NodeClaim is one machine: asked for, launched, joined, and at last taken away. Planners make them for NodePools;
// a user may write one by hand, which then lives the same life without a pool. It is cluster-scoped and its spec
// never changes.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=nodeclaims,scope=Cluster,categories=karpenter
// +kubebuilder:subresource:status
// +kubebuilder:storageversion
// +kubebuilder:printcolumn:name="Type",type="string",JSONPath=".metadata.labels.node\\.kubernetes\\.io/instance-type"
// +kubebuilder:printcolumn:name="Capacity",type="string",JSONPath=".metadata.labels.karpenter\\.sh/capacity-type"
// +kubebuilder:printcolumn:name="Zone",type="string",JSONPath=".metadata.labels.topology\\.kubernetes\\.io/zone"
// +kubebuilder:printcolumn:name="Node",type="string",JSONPath=".status.nodeName"
// +kubebuilder:printcolumn:name="Ready",type="string",JSONPath=".status.conditions[?(@.type==\"Ready\")].status"
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp"
// +kubebuilder:printcolumn:name="ImageID",type="string",JSONPath=".status.imageID",priority=1
// +kubebuilder:printcolumn:name="ID",type="string",JSONPath=".status.providerID",priority=1
// +kubebuilder:printcolumn:name="NodePool",type="string",JSONPath=".metadata.labels.karpenter\\.sh/nodepool",priority=1
// +kubebuilder:printcolumn:name="NodeClass",type="string",JSONPath=".spec.nodeClassRef.name",priority=1
// +kubebuilder:printcolumn:name="Drifted",type="string",JSONPath=".status.conditions[?(@.type==\"Drifted\")].status",priority=1
type NodeClaim struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// Spec is what the machine must be; it never changes.
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="the spec of a NodeClaim never changes: delete it and make another"
	Spec NodeClaimSpec `json:"spec"`
	// Status is what was observed of it.
	// +optional
	Status NodeClaimStatus `json:"status,omitzero"`
}

// NodeClaimList is a list of NodeClaims as an API server returns it.
//
// +kubebuilder:object:root=true
type NodeClaimList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`

	// Items are the claims; their order carries no meaning.
	Items []NodeClaim `json:"items"`
}

// NodeClaimSpec is what a machine must be.
type NodeClaimSpec struct {
	// Taints are on the node for as long as it lives.
	// +optional
	Taints []corev1.Taint `json:"taints,omitzero"`
	// StartupTaints are on the node when it joins and something else is expected to take them away.
	// +optional
	StartupTaints []corev1.Taint `json:"startupTaints,omitzero"`
	// Requirements say which machines will do: all must hold. Required, may be an empty list; at most 100.
	// +required
	// +kubebuilder:validation:MaxItems=100
	// +kubebuilder:validation:XValidation:rule="self.all(x, x.operator == 'In' ? has(x.values) && size(x.values) > 0 : true)",message="operator In needs at least one value"
	// +kubebuilder:validation:XValidation:rule="self.all(x, x.operator in ['Gt', 'Lt', 'Gte', 'Lte'] ? has(x.values) && size(x.values) == 1 && x.values[0].matches('^[0-9]+$') : true)",message="operators Gt, Lt, Gte and Lte need exactly one whole number that is not negative"
	// +kubebuilder:validation:XValidation:rule="self.all(x, x.operator == 'In' && has(x.minValues) && has(x.values) ? size(x.values) >= x.minValues : true)",message="operator In must list at least minValues values"
	Requirements []NodeSelectorRequirementWithMinValues `json:"requirements,omitzero"`
	// Resources is the least the machine must have for pods.
	// +optional
	Resources ResourceRequirements `json:"resources,omitzero"`
	// NodeClassRef names the provider's object with everything that is the provider's own business.
	NodeClassRef NodeClassReference `json:"nodeClassRef"`
	// TerminationGracePeriod bounds how long the node may drain. Nil waits forever.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern=`^([0-9]+[smh])+$`
	TerminationGracePeriod *Duration `json:"terminationGracePeriod,omitempty"`
	// ExpireAfter is how long the node may live, or Never. Unset reads as 720h.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern=`^(([0-9]+[smh])+|Never)$`
	// +kubebuilder:default:="720h"
	ExpireAfter NillableDuration `json:"expireAfter,omitzero"`
}

// ResourceRequirements is the least a machine must have for pods.
type ResourceRequirements struct {
	// Requests is the sum of the pods the machine was planned for, DaemonSet pods among them.
	// +optional
	Requests corev1.ResourceList `json:"requests,omitzero"`
}

// NodeClaimStatus is what was observed of the node and its instance.
type NodeClaimStatus struct {
	// NodeName is the name of the Node it joined as; empty until it has joined.
	// +optional
	NodeName string `json:"nodeName,omitempty"`
	// ProviderID is the provider's name for the instance, the same text as the Node's spec.providerID; empty until
	// it was launched.
	// +optional
	ProviderID string `json:"providerID,omitempty"`
	// ImageID is the provider's name for the image it booted.
	// +optional
	ImageID string `json:"imageID,omitempty"`
	// Capacity is the whole machine, estimated until the node has joined.
	// +optional
	Capacity corev1.ResourceList `json:"capacity,omitzero"`
	// Allocatable is the part of Capacity that pods can have, estimated until the node has joined.
	// +optional
	Allocatable corev1.ResourceList `json:"allocatable,omitzero"`
	// LastPodEventTime is when a pod was last bound to the node or left it; zero when none ever was.
	// +optional
	LastPodEventTime metav1.Time `json:"lastPodEventTime,omitzero"`
	// Conditions of the claim: see the Condition constants.
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitzero"`
}
