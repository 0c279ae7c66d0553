package nodeclaims

import (
	"cmp"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/api/v1alpha5"
	"github.com/drawknife/drawknife/api/v1beta1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/scheduling"
)

// Options contain the inputs of a claim in addition to its pool and plan. The zero value is enough for pools without minValues.
type Options struct {
	// Lookup is the provider's vocabulary. Keys that it does not know are custom; a claim has a label for each of them. Nil means the
	// common vocabulary.
	Lookup *requirements.Lookup
	// InstanceTypes are the instance types of the pool, with overlays applied, from which the plan was made. Types of the plan that are not
	// listed don't count for minValues. It may be nil if the pool requires no minValues.
	InstanceTypes []*cloudprovider.InstanceType
	// MaxInstanceTypes bounds how many instance types a claim names; at least 1. Nil means DefaultMaxInstanceTypes.
	MaxInstanceTypes *int
	// MinValues is the policy that the plan used; empty means Strict.
	MinValues scheduling.MinValuesPolicy
	// TerminationGracePeriod is the grace period of nodes whose pool states none. If it is nil, such nodes drain without a deadline.
	TerminationGracePeriod *v1.Duration
	// Annotations are added to the pool's annotations, for example those of overlay.Result.Annotations.
	Annotations map[string]string
}

// DefaultMaxInstanceTypes is how many instance types a claim names at most.
const DefaultMaxInstanceTypes = 600

// MaxRequirements is how many requirements the API accepts in a claim.
const MaxRequirements = 100

// New makes the claim of a planned node. pool is the pool that the plan used: the one with the node's key. The claim has a generateName and
// no UID: the store chooses the name. The error is a *VarietyError if, under the Strict policy, the instance types that fit into a claim
// are less varied than the pool's minValues require. It is a *TooManyRequirementsError if the API would refuse the claim, and an
// *InputError if node and pool do not belong together.
func New(node *scheduling.NewNode, pool *scheduling.NodePool, o Options) (*v1.NodeClaim, error) {
	if err := check(node, pool); err != nil {
		return nil, err
	}
	lookup := o.Lookup
	if lookup == nil {
		lookup = requirements.CoreVocabulary().Compile()
	}
	v := varietyOf(node, pool, lookup, o.InstanceTypes)
	chosen, err := v.choose(o)
	if err != nil {
		return nil, err
	}
	entries, err := requirementsOf(node, pool, v, chosen)
	if err != nil {
		return nil, err
	}
	claim := blank(pool, o)
	claim.Labels = labelsOf(node, pool, lookup)
	if v.relaxed {
		claim.Annotations[v1.NodeClaimMinValuesRelaxedAnnotationKey] = "true"
	}
	claim.Spec.Requirements = entries
	claim.Spec.Resources.Requests = node.Requests.DeepCopy()
	return claim, nil
}

// NewStatic makes a claim of a pool with a fixed number of replicas: it has only the template's requirements, and the provider chooses the
// instance type.
func NewStatic(pool *scheduling.NodePool, o Options) (*v1.NodeClaim, error) {
	if pool == nil || pool.Object == nil {
		return nil, &InputError{Rule: "the pool is nil or has no object"}
	}
	claim := blank(pool, o)
	template := &pool.Object.Spec.Template
	claim.Labels = map[string]string{}
	maps.Copy(claim.Labels, template.Labels)
	addOwn(claim.Labels, pool)
	// The list is never nil, because an API server refuses a claim without the field.
	claim.Spec.Requirements = make([]v1.NodeSelectorRequirementWithMinValues, 0, len(template.Spec.Requirements))
	for i := range template.Spec.Requirements {
		claim.Spec.Requirements = append(claim.Spec.Requirements, *template.Spec.Requirements[i].DeepCopy())
	}
	return claim, nil
}

func check(node *scheduling.NewNode, pool *scheduling.NodePool) error {
	switch {
	case node == nil:
		return &InputError{Rule: "the node is nil"}
	case pool == nil || pool.Object == nil:
		return &InputError{Node: node.Name, Rule: "the pool is nil or has no object"}
	case node.Pool != pool.Identity():
		return &InputError{Node: node.Name, Rule: "it is planned for nodepool " + node.Pool.String() + ", not " + pool.Identity().String()}
	case len(node.InstanceTypes) == 0:
		return &InputError{Node: node.Name, Rule: "the node has no instance type"}
	}
	return nil
}

// blank returns a claim with the fields that all claims of a pool have in common.
func blank(pool *scheduling.NodePool, o Options) *v1.NodeClaim {
	object, template := pool.Object, &pool.Object.Spec.Template
	claim := &v1.NodeClaim{}
	v1.SetGenerationOf(claim, pool.Identity().Generation)
	claim.GenerateName = object.Name + "-"
	block := true
	owner := v1.GroupVersion().WithKind(v1.KindNodePool)
	if pool.Identity().Generation == v1.GenerationV1Alpha5 {
		owner = v1alpha5.GroupVersion().WithKind(v1alpha5.KindProvisioner)
	}
	claim.OwnerReferences = []metav1.OwnerReference{{
		APIVersion: owner.GroupVersion().String(), Kind: owner.Kind, Name: object.Name, UID: object.UID, BlockOwnerDeletion: &block,
	}}
	claim.Annotations = map[string]string{}
	// The kubelet settings of a v1beta1 pool are in an annotation of the pool. They are copied to the claim, because providers see only
	// claims.
	if block, ok := object.Annotations[v1beta1.KubeletAnnotationKey]; ok {
		claim.Annotations[v1beta1.KubeletAnnotationKey] = block
	}
	maps.Copy(claim.Annotations, template.Annotations)
	maps.Copy(claim.Annotations, o.Annotations)
	claim.Annotations[v1.NodePoolHashAnnotationKey] = object.Hash()
	claim.Annotations[v1.NodePoolHashVersionAnnotationKey] = v1.NodePoolHashVersion
	spec := template.Spec.DeepCopy()
	claim.Spec.Taints, claim.Spec.StartupTaints = spec.Taints, spec.StartupTaints
	claim.Spec.NodeClassRef = spec.NodeClassRef
	claim.Spec.ExpireAfter = spec.ExpireAfter
	claim.Spec.TerminationGracePeriod = spec.TerminationGracePeriod
	if claim.Spec.TerminationGracePeriod == nil && o.TerminationGracePeriod != nil {
		period := *o.TerminationGracePeriod
		claim.Spec.TerminationGracePeriod = &period
	}
	return claim
}

// ofTheClaim returns the node's requirements without the requirements that only planning uses. It leaves out the instance type, which the
// claim lists separately, the hostname, because the node has no name yet, and the labels for registration and initialization.
func ofTheClaim(node *scheduling.NewNode) requirements.Set {
	return node.Requirements.Without(corev1.LabelInstanceTypeStable, corev1.LabelHostname, v1.NodeRegisteredLabelKey, v1.NodeInitializedLabelKey)
}

// labelsOf returns the template's labels, the labels that name the pool and node class, and one label for each custom key for which the
// node's requirements allow a value. So the node has the labels that its pods select.
func labelsOf(node *scheduling.NewNode, pool *scheduling.NodePool, lookup *requirements.Lookup) map[string]string {
	labels := map[string]string{}
	for r := range ofTheClaim(node).All {
		key := r.Key()
		if lookup.IsWellKnown(key) {
			continue
		}
		if value, ok := r.AnyValue(); ok && r.Operator() != requirements.OpDoesNotExist {
			labels[key] = value
		}
	}
	maps.Copy(labels, pool.Object.Spec.Template.Labels)
	addOwn(labels, pool)
	return labels
}

func addOwn(labels map[string]string, pool *scheduling.NodePool) {
	labels[scheduling.PoolLabel(pool.Identity())] = pool.Object.Name
	// Claims of pools created as v1alpha5 have no label of their node class.
	if class := pool.Object.Spec.Template.Spec.NodeClassRef; class.Kind != "" && pool.Identity().Generation != v1.GenerationV1Alpha5 {
		labels[requirements.NodeClassLabelKey(class.Group, class.Kind)] = class.Name
	}
}

// requirementsOf returns the claim's requirements: the node's requirements, the labels with the operator In, and the chosen instance types,
// cheapest first. A minValues of the claim is the pool's minValues or, if it is relaxed, the number of values that the instance types have.
func requirementsOf(node *scheduling.NewNode, pool *scheduling.NodePool, v *variety, chosen []scheduling.InstanceTypeOption) ([]v1.NodeSelectorRequirementWithMinValues, error) {
	set := ofTheClaim(node)
	own := map[string]string{}
	maps.Copy(own, pool.Object.Spec.Template.Labels)
	addOwn(own, pool)
	for _, key := range slices.Sorted(maps.Keys(own)) {
		set = set.With(requirements.In(key, own[key]))
	}
	types := v1.NodeSelectorRequirementWithMinValues{Key: corev1.LabelInstanceTypeStable, Operator: corev1.NodeSelectorOpIn}
	for _, option := range chosen {
		types.Values = append(types.Values, option.Name)
	}
	entries := append(set.NodeSelectorRequirements(), types)
	for i := range entries {
		entries[i].MinValues = v.minValues(entries[i].Key, chosen)
	}
	slices.SortStableFunc(entries, func(a, b v1.NodeSelectorRequirementWithMinValues) int { return cmp.Compare(a.Key, b.Key) })
	if len(entries) > MaxRequirements {
		return nil, &TooManyRequirementsError{Node: node.Name, Count: len(entries)}
	}
	return entries, nil
}
