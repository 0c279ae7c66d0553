package v1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// NodePool says which machines may be launched for pods that wait, how they are set up, how many there may be and
// when they may be taken away again. It is cluster-scoped.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=nodepools,scope=Cluster,categories=karpenter
// +kubebuilder:subresource:status
// +kubebuilder:subresource:scale:specpath=.spec.replicas,statuspath=.status.nodes
// +kubebuilder:storageversion
// +kubebuilder:printcolumn:name="NodeClass",type="string",JSONPath=".spec.template.spec.nodeClassRef.name"
// +kubebuilder:printcolumn:name="Nodes",type="string",JSONPath=".status.nodes"
// +kubebuilder:printcolumn:name="Ready",type="string",JSONPath=".status.conditions[?(@.type==\"Ready\")].status"
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp"
// +kubebuilder:printcolumn:name="Weight",type="integer",JSONPath=".spec.weight",priority=1
// +kubebuilder:printcolumn:name="CPU",type="string",JSONPath=".status.resources.cpu",priority=1
// +kubebuilder:printcolumn:name="Memory",type="string",JSONPath=".status.resources.memory",priority=1
type NodePool struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// Spec is what the user wants.
	Spec NodePoolSpec `json:"spec"`
	// Status is what was observed; a manifest has none.
	Status NodePoolStatus `json:"status,omitzero"`
}

// NodePoolList is a list of NodePools as an API server returns it.
//
// +kubebuilder:object:root=true
type NodePoolList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`

	// Items are the pools; their order carries no meaning.
	Items []NodePool `json:"items"`
}

// NodePoolSpec is what a user asks of a pool.
type NodePoolSpec struct {
	// Template is what every NodeClaim of the pool is made from. Changing anything in it but the requirements makes
	// the nodes of the pool drift.
	Template NodeClaimTemplate `json:"template"`
	// Disruption says when nodes of the pool may be disrupted voluntarily. Unset reads as consolidateAfter 0s,
	// WhenEmptyOrUnderutilized and one budget of 10%.
	// +optional
	Disruption Disruption `json:"disruption,omitzero"`
	// Limits are upper bounds on the sum of the capacity of the pool's nodes, by resource name; the name "nodes"
	// bounds their number. A resource that is not named is not limited; nil limits nothing.
	// +optional
	Limits corev1.ResourceList `json:"limits,omitzero"`
	// Weight orders the pools: a higher one is tried first. 1 to 100; nil counts as 0, the last.
	// +optional
	Weight *int32 `json:"weight,omitempty"`
	// Replicas makes the pool static: it keeps this many nodes whether pods need them or not. Nil is the ordinary,
	// dynamic pool. It can't be added to or removed from an existing pool. A static pool has no weight, may be limited
	// by "nodes" alone, and is never consolidated.
	// +optional
	Replicas *int64 `json:"replicas,omitempty"`
}

// IsStatic reports whether the pool keeps a fixed number of nodes.
func (p *NodePool) IsStatic() bool { return p.Spec.Replicas != nil }

// Key is the identity of a pool of this generation. A pool that was converted from an older generation keeps the
// identity it was born with, which the object alone can't tell: see PoolKey.
func (p *NodePool) Key() PoolKey { return NewPoolKey(p.Name) }

// NodeClaimTemplate is what the NodeClaims of a pool are made from.
type NodeClaimTemplate struct {
	// ObjectMeta holds the labels and annotations that every node of the pool gets.
	// +optional
	ObjectMeta `json:"metadata,omitzero"`
	// Spec is copied to each NodeClaim, its requirements narrowed by what was planned.
	Spec NodeClaimTemplateSpec `json:"spec"`
}

// ObjectMeta is the part of metadata that a template may set.
type ObjectMeta struct {
	// Labels are put on every NodeClaim and node of the pool; planners count on them. At most 100.
	// +optional
	Labels map[string]string `json:"labels,omitzero"`
	// Annotations are put on every NodeClaim and node of the pool.
	// +optional
	Annotations map[string]string `json:"annotations,omitzero"`
}

// NodeClaimTemplateSpec is the machine a pool asks for.
type NodeClaimTemplateSpec struct {
	// Taints are on every node of the pool, for as long as it lives: a pod must tolerate all of them.
	// +optional
	Taints []corev1.Taint `json:"taints,omitzero"`
	// StartupTaints are on a node when it joins and something else is expected to take them away; pods need not
	// tolerate them.
	// +optional
	StartupTaints []corev1.Taint `json:"startupTaints,omitzero"`
	// Requirements say which machines will do: all must hold. Required, but may be an empty list (any machine);
	// nil is a list that was forgotten, and refused by validation. At most 100.
	// +optional
	Requirements []NodeSelectorRequirementWithMinValues `json:"requirements,omitzero"`
	// NodeClassRef names the provider's object with everything that is the provider's own business.
	NodeClassRef NodeClassReference `json:"nodeClassRef"`
	// TerminationGracePeriod bounds how long a node may drain; after it pods are removed whatever they say. Whole
	// hours, minutes and seconds. Nil waits for ever.
	// +optional
	TerminationGracePeriod *Duration `json:"terminationGracePeriod,omitempty"`
	// ExpireAfter is how long a node may live before it is removed, or Never. Unset reads as 720h.
	// +optional
	ExpireAfter NillableDuration `json:"expireAfter,omitzero"`
}

// NodeClassReference points at a provider's node class, which is cluster-scoped.
type NodeClassReference struct {
	// Group of the API, without a version: "karpenter.k8s.aws".
	Group string `json:"group"`
	// Kind of the object: "EC2NodeClass".
	Kind string `json:"kind"`
	// Name of the object.
	Name string `json:"name"`
}

// NodeSelectorRequirementWithMinValues is one requirement as it is written in a manifest. Package api/requirements
// gives it a meaning.
type NodeSelectorRequirementWithMinValues struct {
	// Key is the label the requirement is about.
	Key string `json:"key"`
	// Operator is In, NotIn, Exists, DoesNotExist, Gt, Lt, Gte or Lte.
	Operator corev1.NodeSelectorOperator `json:"operator"`
	// Values belong to the operator: one or more for In, any number for NotIn, none for Exists and DoesNotExist, one
	// whole number that is not negative for the comparisons.
	// +optional
	Values []string `json:"values,omitzero"`
	// MinValues asks that at least so many different values of the key stay possible, 1 to 50. Nil asks nothing.
	// +optional
	MinValues *int `json:"minValues,omitempty"`
}

// Disruption says when nodes may be disrupted voluntarily.
type Disruption struct {
	// ConsolidateAfter is how long a node must have seen no pod come or go before it may be consolidated, or Never,
	// which switches consolidation off. Unset reads as 0s.
	// +optional
	ConsolidateAfter NillableDuration `json:"consolidateAfter,omitzero"`
	// ConsolidationPolicy says which nodes are worth consolidating. Empty reads as WhenEmptyOrUnderutilized.
	// +optional
	ConsolidationPolicy ConsolidationPolicy `json:"consolidationPolicy,omitempty"`
	// Budgets bound how many nodes of the pool may be disrupted at a time; the strictest that applies counts. Nil
	// reads as one budget of 10%; an empty list bounds nothing. At most 50.
	// +optional
	Budgets []Budget `json:"budgets,omitzero"`
}

// ConsolidationPolicy says which nodes are worth consolidating.
type ConsolidationPolicy string

const (
	// ConsolidationPolicyWhenEmpty removes only nodes without pods that would have to move.
	ConsolidationPolicyWhenEmpty ConsolidationPolicy = "WhenEmpty"
	// ConsolidationPolicyWhenEmptyOrUnderutilized also removes or replaces nodes whenever that is cheaper.
	ConsolidationPolicyWhenEmptyOrUnderutilized ConsolidationPolicy = "WhenEmptyOrUnderutilized"
	// ConsolidationPolicyBalanced weighs the saving against the disturbance of pods.
	ConsolidationPolicyBalanced ConsolidationPolicy = "Balanced"
)

// DisruptionReason is why a node is disrupted, as far as budgets tell reasons apart.
type DisruptionReason string

const (
	// DisruptionReasonUnderutilized is consolidation of a node that holds pods.
	DisruptionReasonUnderutilized DisruptionReason = "Underutilized"
	// DisruptionReasonEmpty is removal of a node without pods that would have to move.
	DisruptionReasonEmpty DisruptionReason = "Empty"
	// DisruptionReasonDrifted is replacement of a node that no longer is what its pool asks for.
	DisruptionReasonDrifted DisruptionReason = "Drifted"
)

// NodePoolStatus is what was observed of a pool.
type NodePoolStatus struct {
	// Resources is the sum of the capacity of the pool's nodes.
	// +optional
	Resources corev1.ResourceList `json:"resources,omitzero"`
	// Nodes is how many nodes the pool has. Nil counts as 0.
	// +optional
	Nodes *int64 `json:"nodes,omitempty"`
	// NodeClassObservedGeneration is the generation of the node class that the conditions speak of.
	// +optional
	NodeClassObservedGeneration int64 `json:"nodeClassObservedGeneration,omitempty"`
	// Conditions of the pool: see the Condition constants.
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitzero"`
}
