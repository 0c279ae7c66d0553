package v1beta1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
)

// NodePool says which nodes may be launched for pending pods, how many, and when they may be disrupted. It is cluster-scoped.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=nodepools,scope=Cluster,categories=karpenter
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="NodeClass",type="string",JSONPath=".spec.template.spec.nodeClassRef.name"
// +kubebuilder:printcolumn:name="Weight",type="string",JSONPath=".spec.weight",priority=1
type NodePool struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// Spec is what the user wants.
	Spec NodePoolSpec `json:"spec"`
	// Status is what the controller observed; manifests have none.
	// +optional
	Status NodePoolStatus `json:"status,omitzero"`
}

// NodePoolList is a list of NodePools as an API server returns it.
//
// +kubebuilder:object:root=true
type NodePoolList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`

	// Items are the pools; their order has no meaning.
	Items []NodePool `json:"items"`
}

// NodePoolSpec contains the user's settings of a pool.
type NodePoolSpec struct {
	// Template is the template for every NodeClaim of the pool.
	Template NodeClaimTemplate `json:"template"`
	// Disruption says when nodes of the pool may be disrupted voluntarily. Unset means WhenUnderutilized and expireAfter 720h.
	// +optional
	// +kubebuilder:default:={consolidationPolicy: "WhenUnderutilized", expireAfter: "720h"}
	// +kubebuilder:validation:XValidation:rule="has(self.consolidateAfter) ? self.consolidationPolicy != 'WhenUnderutilized' || self.consolidateAfter == 'Never' : true",message="consolidateAfter goes with consolidationPolicy WhenEmpty; with WhenUnderutilized it may only be Never"
	// +kubebuilder:validation:XValidation:rule="self.consolidationPolicy == 'WhenEmpty' ? has(self.consolidateAfter) : true",message="consolidationPolicy WhenEmpty needs consolidateAfter"
	Disruption Disruption `json:"disruption,omitzero"`
	// Limits are upper bounds on the sum of the capacity of the pool's nodes, by resource name; nil means no limits.
	// +optional
	Limits corev1.ResourceList `json:"limits,omitzero"`
	// Weight orders the pools: planners try a pool with a higher weight first. 1 to 100; nil counts as 0, so the pool is tried last.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100
	Weight *int32 `json:"weight,omitempty"`
}

// NodeClaimTemplate is the template for the NodeClaims of a pool.
type NodeClaimTemplate struct {
	// ObjectMeta contains the labels and annotations that every node of the pool gets.
	// +optional
	v1.ObjectMeta `json:"metadata,omitzero"`
	// Spec is copied to each NodeClaim. Resources must not be set in a template.
	Spec NodeClaimSpec `json:"spec"`
}

// Disruption says when nodes may be disrupted voluntarily.
type Disruption struct {
	// ConsolidateAfter is how long a node must have been empty before it may be removed, or Never, which turns consolidation off. It is
	// required with WhenEmpty. With WhenUnderutilized only Never is allowed, and an unset value means a fixed wait of 15 s.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern=`^(([0-9]+[smh])+|Never)$`
	ConsolidateAfter v1.NillableDuration `json:"consolidateAfter,omitzero"`
	// ConsolidationPolicy says which nodes may be consolidated. Empty means WhenUnderutilized.
	// +optional
	// +kubebuilder:default:="WhenUnderutilized"
	ConsolidationPolicy ConsolidationPolicy `json:"consolidationPolicy,omitempty"`
	// ExpireAfter is how long a node may live before it is replaced, or Never. Unset means 720h.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern=`^(([0-9]+[smh])+|Never)$`
	// +kubebuilder:default:="720h"
	ExpireAfter v1.NillableDuration `json:"expireAfter,omitzero"`
	// Budgets limit how many nodes of the pool may be disrupted at a time. If several budgets apply, the strictest budget is used. Nil
	// means one budget of 10%; an empty list means no limit. At most 50.
	// +optional
	// +kubebuilder:validation:MaxItems=50
	// +kubebuilder:default:={{nodes: "10%"}}
	// +kubebuilder:validation:XValidation:rule="self.all(x, has(x.schedule) == has(x.duration))",message="a schedule and a duration come together"
	Budgets []Budget `json:"budgets,omitzero"`
}

// ConsolidationPolicy says which nodes may be consolidated.
//
// +kubebuilder:validation:Enum=WhenEmpty;WhenUnderutilized
type ConsolidationPolicy string

const (
	// ConsolidationPolicyWhenEmpty removes only nodes without pods that would have to move.
	ConsolidationPolicyWhenEmpty ConsolidationPolicy = "WhenEmpty"
	// ConsolidationPolicyWhenUnderutilized also removes or replaces other nodes whenever that lowers the cost. v1 calls it
	// WhenEmptyOrUnderutilized.
	ConsolidationPolicyWhenUnderutilized ConsolidationPolicy = "WhenUnderutilized"
)

// Budget limits how many nodes of a pool may be disrupted at a time, for any reason.
type Budget struct {
	// Nodes is the limit: a count ("3"), or a percentage of the pool's nodes, rounded up ("10%"). Empty means "10%".
	// +kubebuilder:validation:Pattern=`^((100|[0-9]{1,2})%|[0-9]+)$`
	// +kubebuilder:default:="10%"
	Nodes string `json:"nodes"`
	// Schedule is when the budget becomes active: five cron fields or a macro such as @daily, in UTC. It must be set together with
	// Duration; without both, the budget always applies.
	// +optional
	// +kubebuilder:validation:Pattern=`^(@(annually|yearly|monthly|weekly|daily|midnight|hourly)|\s*[^\s@=]+(\s+[^\s=]+){4}\s*)$`
	Schedule *string `json:"schedule,omitempty"`
	// Duration is how long the budget is active after each time of Schedule, in whole hours and minutes.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern=`^([0-9]+h|[0-9]+m|[0-9]+h[0-9]+m)(0s)?$`
	Duration *v1.Duration `json:"duration,omitempty"`
}

// NodePoolStatus is what the controller observed of a pool.
type NodePoolStatus struct {
	// Resources is the sum of the capacity of the pool's nodes.
	// +optional
	Resources corev1.ResourceList `json:"resources,omitzero"`
}
