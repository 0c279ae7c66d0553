package v1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// NodePool says which nodes may be launched for pending pods, how they are configured, how many there may be, and when they may be
// disrupted. It is cluster-scoped.
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
// +kubebuilder:validation:XValidation:rule="size(self.metadata.name) <= 63",message="the name becomes the value of a label and may have 63 characters"
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
//
// +kubebuilder:validation:XValidation:rule="has(self.replicas) == has(oldSelf.replicas)",message="replicas can't be added to or removed from an existing pool: make another NodePool instead"
// +kubebuilder:validation:XValidation:rule="!has(self.replicas) || !has(self.weight)",message="a pool with replicas is not chosen for pods and has no weight: remove weight or replicas"
// +kubebuilder:validation:XValidation:rule="!has(self.replicas) || !has(self.limits) || size(self.limits) == 0 || size(self.limits) == 1 && 'nodes' in self.limits",message="a pool with replicas may be limited by nodes alone"
type NodePoolSpec struct {
	// Template is the template for every NodeClaim of the pool. Changing anything in it but the requirements makes the nodes of the pool
	// drift.
	Template NodeClaimTemplate `json:"template"`
	// Disruption says when nodes of the pool may be disrupted voluntarily. Unset means consolidateAfter 0s, WhenEmptyOrUnderutilized and
	// one budget of 10%.
	// +optional
	// +kubebuilder:default:={consolidateAfter: "0s"}
	Disruption Disruption `json:"disruption,omitzero"`
	// Limits are upper bounds on the sum of the capacity of the pool's nodes, by resource name; the name "nodes" limits their number. A
	// resource that is not listed is not limited; nil means no limits.
	// +optional
	Limits corev1.ResourceList `json:"limits,omitzero"`
	// Weight orders the pools: planners try a pool with a higher weight first. 1 to 100; nil counts as 0, so the pool is tried last.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100
	Weight *int32 `json:"weight,omitempty"`
	// Replicas makes the pool static: it always has this many nodes, whether pods need them or not. Nil means an ordinary, dynamic pool.
	// It can't be added to or removed from an existing pool. A static pool has no weight, its only possible limit is "nodes", and it is
	// never consolidated.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Replicas *int64 `json:"replicas,omitempty"`
}

// IsStatic reports whether the pool keeps a fixed number of nodes.
func (p *NodePool) IsStatic() bool { return p.Spec.Replicas != nil }

// Key returns the identity of the pool. A pool that was created in an older generation keeps its original identity: see GenerationOf.
func (p *NodePool) Key() PoolKey { return PoolKey{GenerationOf(p), p.Name} }

// NodeClaimTemplate is the template for the NodeClaims of a pool.
type NodeClaimTemplate struct {
	// ObjectMeta contains the labels and annotations that every node of the pool gets.
	// +optional
	ObjectMeta `json:"metadata,omitzero"`
	// Spec is copied to each NodeClaim, with requirements narrowed by the plan.
	Spec NodeClaimTemplateSpec `json:"spec"`
}

// ObjectMeta is the part of metadata that a template may set.
type ObjectMeta struct {
	// Labels are set on every NodeClaim and node of the pool; planners rely on them. At most 100.
	// +optional
	// +kubebuilder:validation:MaxProperties=100
	// +kubebuilder:validation:XValidation:rule="!('karpenter.sh/nodepool' in self)",message="label karpenter.sh/nodepool is set to the pool's own name: leave it out"
	// +kubebuilder:validation:XValidation:rule="!('kubernetes.io/hostname' in self)",message="label kubernetes.io/hostname is set on each node for it alone"
	// +kubebuilder:validation:XValidation:rule="self.all(k, !k.startsWith('karpenter.sh/') || k in ['karpenter.sh/capacity-type', 'karpenter.sh/nodepool'])",message="labels of the domain karpenter.sh are reserved"
	Labels map[string]string `json:"labels,omitzero"`
	// Annotations are set on every NodeClaim and node of the pool.
	// +optional
	Annotations map[string]string `json:"annotations,omitzero"`
}

// NodeClaimTemplateSpec describes the nodes that a pool asks for.
type NodeClaimTemplateSpec struct {
	// Taints are on every node of the pool, for as long as it lives: a pod must tolerate all of them.
	// +optional
	Taints []corev1.Taint `json:"taints,omitzero"`
	// StartupTaints are on a node when it joins. Another controller is expected to remove them, so pods need not tolerate them.
	// +optional
	StartupTaints []corev1.Taint `json:"startupTaints,omitzero"`
	// Requirements say which instances are acceptable: all must be met. Required, but may be an empty list, which accepts any instance.
	// Validation refuses nil, because the list was probably forgotten. At most 100.
	// +required
	// +kubebuilder:validation:MaxItems=100
	// +kubebuilder:validation:XValidation:rule="self.all(x, x.operator == 'In' ? has(x.values) && size(x.values) > 0 : true)",message="operator In needs at least one value"
	// +kubebuilder:validation:XValidation:rule="self.all(x, x.operator in ['Gt', 'Lt', 'Gte', 'Lte'] ? has(x.values) && size(x.values) == 1 && x.values[0].matches('^[0-9]+$') : true)",message="operators Gt, Lt, Gte and Lte need exactly one whole number that is not negative"
	// +kubebuilder:validation:XValidation:rule="self.all(x, x.operator == 'In' && has(x.minValues) && has(x.values) ? size(x.values) >= x.minValues : true)",message="operator In must list at least minValues values"
	// +kubebuilder:validation:XValidation:rule="self.all(x, x.key != 'karpenter.sh/nodepool')",message="label karpenter.sh/nodepool is set to the pool's own name: leave it out"
	Requirements []NodeSelectorRequirementWithMinValues `json:"requirements,omitzero"`
	// NodeClassRef names the provider's node class, with all settings that are specific to the provider.
	// +kubebuilder:validation:XValidation:rule="self.group == oldSelf.group",message="the group of the node class can't change: make another NodePool instead"
	// +kubebuilder:validation:XValidation:rule="self.kind == oldSelf.kind",message="the kind of the node class can't change: make another NodePool instead"
	NodeClassRef NodeClassReference `json:"nodeClassRef"`
	// TerminationGracePeriod bounds how long a node may drain; after this time pods are removed even if they are protected. It consists of
	// whole hours, minutes and seconds. Nil means that the drain waits forever.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern=`^([0-9]+[smh])+$`
	TerminationGracePeriod *Duration `json:"terminationGracePeriod,omitempty"`
	// ExpireAfter is how long a node may live before it is removed, or Never. Unset means 720h.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern=`^(([0-9]+[smh])+|Never)$`
	// +kubebuilder:default:="720h"
	ExpireAfter NillableDuration `json:"expireAfter,omitzero"`
}

// NodeClassReference refers to a provider's node class, which is cluster-scoped.
type NodeClassReference struct {
	// Group of the API, without a version: "karpenter.k8s.aws".
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:Pattern=`^[^/]*$`
	Group string `json:"group"`
	// Kind of the object: "EC2NodeClass".
	// +kubebuilder:validation:MinLength=1
	Kind string `json:"kind"`
	// Name of the object.
	// +kubebuilder:validation:MinLength=1
	Name string `json:"name"`
}

// NodeSelectorRequirementWithMinValues is one requirement in a manifest. Package api/requirements gives it a meaning.
type NodeSelectorRequirementWithMinValues struct {
	// Key is the label that the requirement restricts.
	// +kubebuilder:validation:MaxLength=316
	// +kubebuilder:validation:Pattern=`^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$`
	// +kubebuilder:validation:XValidation:rule="self != 'kubernetes.io/hostname'",message="label kubernetes.io/hostname is set on each node for it alone"
	// +kubebuilder:validation:XValidation:rule="!self.startsWith('karpenter.sh/') || self in ['karpenter.sh/capacity-type', 'karpenter.sh/nodepool']",message="labels of the domain karpenter.sh are reserved"
	Key string `json:"key"`
	// Operator is In, NotIn, Exists, DoesNotExist, Gt, Lt, Gte or Lte.
	// +kubebuilder:validation:Enum=In;NotIn;Exists;DoesNotExist;Gt;Lt;Gte;Lte
	Operator corev1.NodeSelectorOperator `json:"operator"`
	// Values are the operands: one or more for In, any number for NotIn, none for Exists and DoesNotExist, one whole number that is not
	// negative for the comparisons.
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

// Disruption says when nodes may be disrupted voluntarily.
type Disruption struct {
	// ConsolidateAfter is how long a node must have been quiet before it may be consolidated: no pod was bound to it, and none left it.
	// Never turns consolidation off. Unset means 0s.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:Pattern=`^(([0-9]+[smh])+|Never)$`
	// +kubebuilder:default:="0s"
	ConsolidateAfter NillableDuration `json:"consolidateAfter,omitzero"`
	// ConsolidationPolicy says which nodes may be consolidated. Empty means WhenEmptyOrUnderutilized.
	// +optional
	// +kubebuilder:default:="WhenEmptyOrUnderutilized"
	ConsolidationPolicy ConsolidationPolicy `json:"consolidationPolicy,omitempty"`
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
// +kubebuilder:validation:Enum=WhenEmpty;WhenEmptyOrUnderutilized;Balanced
type ConsolidationPolicy string

const (
	// ConsolidationPolicyWhenEmpty removes only nodes without pods that would have to move.
	ConsolidationPolicyWhenEmpty ConsolidationPolicy = "WhenEmpty"
	// ConsolidationPolicyWhenEmptyOrUnderutilized also removes or replaces other nodes whenever that lowers the cost.
	ConsolidationPolicyWhenEmptyOrUnderutilized ConsolidationPolicy = "WhenEmptyOrUnderutilized"
	// ConsolidationPolicyBalanced weighs the saving against the disturbance of pods.
	ConsolidationPolicyBalanced ConsolidationPolicy = "Balanced"
)

// DisruptionReason is why a node is disrupted, as far as budgets distinguish reasons.
//
// +kubebuilder:validation:Enum=Underutilized;Empty;Drifted
type DisruptionReason string

const (
	// DisruptionReasonUnderutilized is consolidation of a node that holds pods.
	DisruptionReasonUnderutilized DisruptionReason = "Underutilized"
	// DisruptionReasonEmpty is removal of a node without pods that would have to move.
	DisruptionReasonEmpty DisruptionReason = "Empty"
	// DisruptionReasonDrifted is replacement of a node that no longer is what its pool asks for.
	DisruptionReasonDrifted DisruptionReason = "Drifted"
)

// NodePoolStatus is what the controller observed of a pool.
type NodePoolStatus struct {
	// Resources is the sum of the capacity of the pool's nodes.
	// +optional
	Resources corev1.ResourceList `json:"resources,omitzero"`
	// Nodes is how many nodes the pool has. Nil counts as 0.
	// +optional
	Nodes *int64 `json:"nodes,omitempty"`
	// NodeClassObservedGeneration is the generation of the node class for which the conditions are valid.
	// +optional
	NodeClassObservedGeneration int64 `json:"nodeClassObservedGeneration,omitempty"`
	// Conditions of the pool: see the Condition constants.
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitzero"`
}
