package v1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// NodeClaim asks for one instance and follows it from launch to termination. Planners create NodeClaims for NodePools. A user may also
// create one by hand; it works in the same way without a pool. NodeClaims are cluster-scoped, and their spec never changes.
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

	// Spec says what the node must be like; it never changes.
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="the spec of a NodeClaim never changes: delete it and make another"
	Spec NodeClaimSpec `json:"spec"`
	// Status is what the controller observed.
	// +optional
	Status NodeClaimStatus `json:"status,omitzero"`
}

// NodeClaimList is a list of NodeClaims as an API server returns it.
//
// +kubebuilder:object:root=true
type NodeClaimList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`

	// Items are the claims; their order has no meaning.
	Items []NodeClaim `json:"items"`
}

// NodeClaimSpec says what a node must be like.
type NodeClaimSpec struct {
	// Taints are on the node for as long as it lives.
	// +optional
	Taints []corev1.Taint `json:"taints,omitzero"`
	// StartupTaints are on the node when it joins. Another controller is expected to remove them.
	// +optional
	StartupTaints []corev1.Taint `json:"startupTaints,omitzero"`
	// Requirements say which instances are acceptable: all must be met. The list is required but may be empty; it has at most 100 entries.
	// +required
	// +kubebuilder:validation:MaxItems=100
	// +kubebuilder:validation:XValidation:rule="self.all(x, x.operator == 'In' ? has(x.values) && size(x.values) > 0 : true)",message="operator In needs at least one value"
	// +kubebuilder:validation:XValidation:rule="self.all(x, x.operator in ['Gt', 'Lt', 'Gte', 'Lte'] ? has(x.values) && size(x.values) == 1 && x.values[0].matches('^[0-9]+$') : true)",message="operators Gt, Lt, Gte and Lte need exactly one whole number that is not negative"
	// +kubebuilder:validation:XValidation:rule="self.all(x, x.operator == 'In' && has(x.minValues) && has(x.values) ? size(x.values) >= x.minValues : true)",message="operator In must list at least minValues values"
	Requirements []NodeSelectorRequirementWithMinValues `json:"requirements,omitzero"`
	// Resources are the minimum that the node must have for pods.
	// +optional
	Resources ResourceRequirements `json:"resources,omitzero"`
	// NodeClassRef names the provider's node class, with all settings that are specific to the provider.
	NodeClassRef NodeClassReference `json:"nodeClassRef"`
	// TerminationGracePeriod bounds how long the node may drain. Nil means that the drain waits forever.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern=`^([0-9]+[smh])+$`
	TerminationGracePeriod *Duration `json:"terminationGracePeriod,omitempty"`
	// ExpireAfter is how long the node may live, or Never. Unset means 720h.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern=`^(([0-9]+[smh])+|Never)$`
	// +kubebuilder:default:="720h"
	ExpireAfter NillableDuration `json:"expireAfter,omitzero"`
}

// ResourceRequirements is the minimum of resources that a node must have for pods.
type ResourceRequirements struct {
	// Requests is the sum of the requests of the pods for which the node was planned, including DaemonSet pods.
	// +optional
	Requests corev1.ResourceList `json:"requests,omitzero"`
}

// NodeClaimStatus is what the controller observed of the node and its instance.
type NodeClaimStatus struct {
	// NodeName is the name of the Node; empty until the node has joined.
	// +optional
	NodeName string `json:"nodeName,omitempty"`
	// ProviderID is the provider's name of the instance, equal to the Node's spec.providerID; empty until the launch.
	// +optional
	ProviderID string `json:"providerID,omitempty"`
	// ImageID is the provider's name of the image from which the instance booted.
	// +optional
	ImageID string `json:"imageID,omitempty"`
	// Capacity is the capacity of the whole node; it is an estimate until the node has joined.
	// +optional
	Capacity corev1.ResourceList `json:"capacity,omitzero"`
	// Allocatable is the part of Capacity that is available to pods; it is an estimate until the node has joined.
	// +optional
	Allocatable corev1.ResourceList `json:"allocatable,omitzero"`
	// LastPodEventTime is when a pod was last bound to the node or left it; zero if that never happened.
	// +optional
	LastPodEventTime metav1.Time `json:"lastPodEventTime,omitzero"`
	// Conditions of the claim: see the Condition constants.
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitzero"`
}
