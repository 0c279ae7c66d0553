package v1beta1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
)

// NodeClaim asks for one instance and follows it from launch to termination. It is cluster-scoped.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=nodeclaims,scope=Cluster,categories=karpenter
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Type",type="string",JSONPath=".metadata.labels.node\\.kubernetes\\.io/instance-type"
// +kubebuilder:printcolumn:name="Zone",type="string",JSONPath=".metadata.labels.topology\\.kubernetes\\.io/zone"
// +kubebuilder:printcolumn:name="Node",type="string",JSONPath=".status.nodeName"
// +kubebuilder:printcolumn:name="Ready",type="string",JSONPath=".status.conditions[?(@.type==\"Ready\")].status"
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp"
// +kubebuilder:printcolumn:name="Capacity",type="string",JSONPath=".metadata.labels.karpenter\\.sh/capacity-type",priority=1
// +kubebuilder:printcolumn:name="NodePool",type="string",JSONPath=".metadata.labels.karpenter\\.sh/nodepool",priority=1
// +kubebuilder:printcolumn:name="NodeClass",type="string",JSONPath=".spec.nodeClassRef.name",priority=1
type NodeClaim struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// Spec says what the node must be like.
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

// NodeClaimSpec says what a node must be like, in a claim and in the template of a pool.
type NodeClaimSpec struct {
	// Taints are on the node for as long as it lives: a pod must tolerate all of them.
	// +optional
	Taints []corev1.Taint `json:"taints,omitzero"`
	// StartupTaints are on the node when it joins. Another controller is expected to remove them.
	// +optional
	StartupTaints []corev1.Taint `json:"startupTaints,omitzero"`
	// Requirements say which instances are acceptable: all must be met. Required, but may be an empty list, which accepts any instance.
	// Validation refuses nil, because the list was probably forgotten. At most 100.
	// +required
	// +kubebuilder:validation:MaxItems=100
	// +kubebuilder:validation:XValidation:rule="self.all(x, x.operator == 'In' ? has(x.values) && size(x.values) > 0 : true)",message="operator In needs at least one value"
	// +kubebuilder:validation:XValidation:rule="self.all(x, x.operator in ['Gt', 'Lt'] ? has(x.values) && size(x.values) == 1 && x.values[0].matches('^[0-9]+$') : true)",message="operators Gt and Lt need exactly one whole number that is not negative"
	// +kubebuilder:validation:XValidation:rule="self.all(x, x.operator == 'In' && has(x.minValues) && has(x.values) ? size(x.values) >= x.minValues : true)",message="operator In must list at least minValues values"
	Requirements []NodeSelectorRequirementWithMinValues `json:"requirements,omitzero"`
	// Resources are the minimum that the node must have for pods. Only claims have this field, not the template of a pool.
	// +optional
	Resources v1.ResourceRequirements `json:"resources,omitzero"`
	// Kubelet configures the kubelet of the node. Nil leaves all settings to the node class. In v1 the block is in the node class.
	// +optional
	Kubelet *KubeletConfiguration `json:"kubelet,omitempty"`
	// NodeClassRef names the provider's node class, with all settings that are specific to the provider.
	NodeClassRef NodeClassReference `json:"nodeClassRef"`
}

// NodeSelectorRequirementWithMinValues is one requirement in a manifest.
type NodeSelectorRequirementWithMinValues struct {
	// Key is the label that the requirement restricts.
	// +kubebuilder:validation:MaxLength=316
	// +kubebuilder:validation:Pattern=`^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$`
	Key string `json:"key"`
	// Operator is In, NotIn, Exists, DoesNotExist, Gt or Lt.
	// +kubebuilder:validation:Enum=In;NotIn;Exists;DoesNotExist;Gt;Lt
	Operator corev1.NodeSelectorOperator `json:"operator"`
	// Values are the operands: one or more for In, any number for NotIn, none for Exists and DoesNotExist, one whole number that is not
	// negative for Gt and Lt.
	// +optional
	// +kubebuilder:validation:items:MaxLength=63
	// +kubebuilder:validation:items:Pattern=`^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$`
	Values []string `json:"values,omitzero"`
	// MinValues is the minimum number of different values of the key among the allowed instance types, 1 to 50. Nil means no minimum.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=50
	MinValues *int `json:"minValues,omitempty"`
}

// NodeClassReference refers to a provider's node class, which is cluster-scoped.
type NodeClassReference struct {
	// Kind of the object. Empty means the provider's own.
	// +optional
	Kind string `json:"kind,omitempty"`
	// Name of the object.
	// +kubebuilder:validation:MinLength=1
	Name string `json:"name"`
	// APIVersion of the object: group and version, "karpenter.k8s.aws/v1beta1". Empty means the provider's own.
	// +optional
	APIVersion string `json:"apiVersion,omitempty"`
}

// NodeClaimStatus is what the controller observed of the node and its instance.
type NodeClaimStatus struct {
	// NodeName is the name of the Node; empty until the node has joined.
	// +optional
	NodeName string `json:"nodeName,omitempty"`
	// ProviderID is the provider's name of the instance; empty until the launch.
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
	// Conditions of the claim: see the Condition constants.
	// +optional
	Conditions []Condition `json:"conditions,omitzero"`
}

// Condition is one observation of a claim. Early releases wrote a severity and no reason; later releases write standard Kubernetes
// conditions. Both forms can be read.
type Condition struct {
	// Type is one of the Condition constants.
	Type string `json:"type"`
	// Status is True, False or Unknown.
	Status metav1.ConditionStatus `json:"status"`
	// Severity is Error, Warning or Info, for a condition that is not True; empty means Error. v1 does not have this field.
	// +optional
	Severity string `json:"severity,omitempty"`
	// ObservedGeneration is the generation of the object for which the condition is valid; 0 if not known.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// LastTransitionTime is when Status last changed.
	// +optional
	LastTransitionTime metav1.Time `json:"lastTransitionTime,omitzero"`
	// Reason is a word for programs; empty in early releases.
	// +optional
	Reason string `json:"reason,omitempty"`
	// Message is a sentence for people.
	// +optional
	Message string `json:"message,omitempty"`
}
