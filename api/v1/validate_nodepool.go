package v1

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/drawknife/drawknife/internal/quantities"
)

// Validate returns the errors in the pool, or nil if it is valid. Each error has the path of the field, the broken rule and the correction.
// Unset fields are checked with their defaults. Package api/requirements, which knows the provider's vocabulary, checks label keys and the
// operators and values of requirements.
func (p *NodePool) Validate() field.ErrorList {
	errs := validateName(p.ObjectMeta)
	if len(errs) == 0 && p.Name != "" {
		errs = append(errs, invalid(field.NewPath("metadata", "name"), p.Name,
			"the name becomes the value of the label "+NodePoolLabelKey, validation.IsValidLabelValue(p.Name))...)
	}
	spec := field.NewPath("spec")
	errs = append(errs, validateTemplate(&p.Spec.Template, spec.Child("template"))...)
	errs = append(errs, validateDisruption(&p.Spec.Disruption, spec.Child("disruption"))...)
	errs = append(errs, validateLimits(p.Spec.Limits, p.IsStatic(), spec.Child("limits"))...)
	if w := p.Spec.Weight; w != nil {
		if *w < 1 || *w > maxPoolWeight {
			errs = append(errs, field.Invalid(spec.Child("weight"), *w, fmt.Sprintf("must be between 1 and %d, or be left out", maxPoolWeight)))
		}
		if p.IsStatic() {
			errs = append(errs, field.Forbidden(spec.Child("weight"), "a pool with replicas is not chosen for pods and has no weight: remove weight or replicas"))
		}
	}
	if r := p.Spec.Replicas; r != nil && *r < 0 {
		errs = append(errs, field.Invalid(spec.Child("replicas"), *r, "must not be negative"))
	}
	return errs
}

// ValidateUpdate returns the errors in an update from old to p: all errors of Validate, and an error for each field that must not change.
// The group and kind of the node class must not change, and a pool must stay static or dynamic.
func (p *NodePool) ValidateUpdate(old *NodePool) field.ErrorList {
	errs := p.Validate()
	if old == nil {
		return errs // it is new
	}
	spec := field.NewPath("spec")
	ref, was := p.Spec.Template.Spec.NodeClassRef, old.Spec.Template.Spec.NodeClassRef
	path := spec.Child("template", "spec", "nodeClassRef")
	if ref.Group != was.Group {
		errs = append(errs, field.Invalid(path.Child("group"), ref.Group, fmt.Sprintf("must stay %q: make another NodePool instead", was.Group)))
	}
	if ref.Kind != was.Kind {
		errs = append(errs, field.Invalid(path.Child("kind"), ref.Kind, fmt.Sprintf("must stay %q: make another NodePool instead", was.Kind)))
	}
	if p.IsStatic() != old.IsStatic() {
		errs = append(errs, field.Forbidden(spec.Child("replicas"), "can't be added to or removed from an existing pool: make another NodePool instead"))
	}
	return errs
}

func validateTemplate(t *NodeClaimTemplate, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	labels := path.Child("metadata", "labels")
	if len(t.Labels) > maxTemplateLabels {
		errs = append(errs, tooMany(labels, len(t.Labels), maxTemplateLabels))
	}
	errs = append(errs, validateLabels(t.Labels, labels)...)
	spec := path.Child("spec")
	errs = append(errs, ValidateTaints(t.Spec.Taints, t.Spec.StartupTaints, spec)...)
	errs = append(errs, validateRequiredRequirements(t.Spec.Requirements, spec.Child("requirements"))...)
	errs = append(errs, validateNodeClassRef(t.Spec.NodeClassRef, spec.Child("nodeClassRef"))...)
	errs = append(errs, validateGracePeriod(t.Spec.TerminationGracePeriod, spec.Child("terminationGracePeriod"))...)
	return append(errs, validateNillableDuration(t.Spec.ExpireAfter, spec.Child("expireAfter"))...)
}

func validateDisruption(d *Disruption, path *field.Path) field.ErrorList {
	errs := validateNillableDuration(d.ConsolidateAfter, path.Child("consolidateAfter"))
	policies := []ConsolidationPolicy{
		ConsolidationPolicyWhenEmpty, ConsolidationPolicyWhenEmptyOrUnderutilized, ConsolidationPolicyBalanced,
	}
	if d.ConsolidationPolicy != "" && !slices.Contains(policies, d.ConsolidationPolicy) {
		errs = append(errs, field.NotSupported(path.Child("consolidationPolicy"), d.ConsolidationPolicy, policies))
	}
	budgets := path.Child("budgets")
	if len(d.Budgets) > maxBudgets {
		errs = append(errs, tooMany(budgets, len(d.Budgets), maxBudgets))
	}
	for i := range d.Budgets {
		errs = append(errs, validateBudget(&d.Budgets[i], budgets.Index(i))...)
	}
	return errs
}

func validateLimits(limits corev1.ResourceList, static bool, path *field.Path) field.ErrorList {
	errs := validateQuantities(limits, path)
	if nodes, ok := limits[ResourceNodes]; ok && quantities.Computable(nodes) && nodes.Cmp(*resource.NewQuantity(nodes.Value(), nodes.Format)) != 0 {
		errs = append(errs, field.Invalid(path.Key(ResourceNodes), nodes.String(), "counts nodes: must be a whole number"))
	}
	if !static {
		return errs
	}
	for _, name := range slices.Sorted(maps.Keys(limits)) {
		if name != ResourceNodes {
			errs = append(errs, field.Forbidden(path.Key(string(name)), "a pool with replicas may be limited by nodes alone: remove this limit or replicas"))
		}
	}
	return errs
}
