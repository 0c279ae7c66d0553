package v1beta1

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "github.com/drawknife/drawknife/api/v1"
)

// Validate returns the errors in the pool, or nil if it is valid. Each error has the path of the field, the broken rule and the correction.
// Unset fields are checked with their defaults. Whether a label key is restricted depends on the provider's vocabulary; package
// api/requirements checks that on the converted pool.
func (p *NodePool) Validate() field.ErrorList {
	// Fields with the same path and rules in v1 are checked by v1's validation.
	same := &v1.NodePool{ObjectMeta: p.ObjectMeta, Spec: v1.NodePoolSpec{Limits: p.Spec.Limits, Weight: p.Spec.Weight}}
	same.Spec.Template.ObjectMeta = p.Spec.Template.ObjectMeta
	same.Spec.Template.Spec = v1.NodeClaimTemplateSpec{
		Taints: p.Spec.Template.Spec.Taints, StartupTaints: p.Spec.Template.Spec.StartupTaints,
		Requirements: hubRequirements(p.Spec.Template.Spec.Requirements), NodeClassRef: anyReference(),
	}
	same.Spec.Disruption = v1.Disruption{ConsolidateAfter: p.Spec.Disruption.ConsolidateAfter, Budgets: hubBudgets(p.Spec.Disruption.Budgets)}
	errs := same.Validate()

	spec := field.NewPath("spec")
	labels := spec.Child("template", "metadata", "labels")
	for _, key := range []string{v1.NodePoolLabelKey, corev1.LabelHostname} {
		if _, ok := p.Spec.Template.Labels[key]; ok {
			errs = append(errs, field.Forbidden(labels.Key(key), "is set on each node by itself: leave it out"))
		}
	}
	template := spec.Child("template", "spec")
	errs = append(errs, validateSpec(&p.Spec.Template.Spec, template)...)
	for i, requirement := range p.Spec.Template.Spec.Requirements {
		if requirement.Key == v1.NodePoolLabelKey {
			errs = append(errs, field.Forbidden(template.Child("requirements").Index(i).Child("key"), "is set to the pool's own name: leave the requirement out"))
		}
	}
	if p.Spec.Template.Spec.Resources.Requests != nil {
		errs = append(errs, field.Forbidden(template.Child("resources"), "belongs to NodeClaims: leave it out of a NodePool"))
	}
	return append(errs, validateDisruption(&p.Spec.Disruption, spec.Child("disruption"))...)
}

// Validate returns the errors in the claim, or nil if it is valid. Each error has the path of the field, the broken rule and the
// correction. See NodePool.Validate for what package api/requirements checks instead.
func (c *NodeClaim) Validate() field.ErrorList {
	same := &v1.NodeClaim{ObjectMeta: c.ObjectMeta, Spec: v1.NodeClaimSpec{
		Taints: c.Spec.Taints, StartupTaints: c.Spec.StartupTaints, Requirements: hubRequirements(c.Spec.Requirements),
		Resources: c.Spec.Resources, NodeClassRef: anyReference(),
	}}
	return append(same.Validate(), validateSpec(&c.Spec, field.NewPath("spec"))...)
}

// anyReference returns a reference that v1 accepts. This reference replaces the one of v1beta1, for which v1 has other rules, before v1's
// rules check the object.
func anyReference() v1.NodeClassReference {
	return v1.NodeClassReference{Group: "any.example", Kind: "Any", Name: "any"}
}

// validateSpec checks the fields that v1 does not have, and those that v1 checks only with the provider's vocabulary.
func validateSpec(s *NodeClaimSpec, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i := range s.Requirements {
		errs = append(errs, validateRequirement(&s.Requirements[i], path.Child("requirements").Index(i))...)
	}
	if s.NodeClassRef.Name == "" {
		errs = append(errs, field.Required(path.Child("nodeClassRef", "name"), "name the node class"))
	}
	return append(errs, validateKubelet(s.Kubelet, path.Child("kubelet"))...)
}

var wholeNumber = regexp.MustCompile(`^[0-9]+$`)

func validateRequirement(r *NodeSelectorRequirementWithMinValues, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, problem := range validation.IsQualifiedName(r.Key) {
		errs = append(errs, field.Invalid(path.Child("key"), r.Key, "not a label key: "+problem))
	}
	if r.Key == corev1.LabelHostname {
		errs = append(errs, field.Forbidden(path.Child("key"), "is set on each node for it alone: leave the requirement out"))
	}
	values := path.Child("values")
	for i, value := range r.Values {
		for _, problem := range validation.IsValidLabelValue(value) {
			errs = append(errs, field.Invalid(values.Index(i), value, "not a label value: "+problem))
		}
	}
	switch r.Operator {
	case corev1.NodeSelectorOpIn:
		switch {
		case len(r.Values) == 0:
			errs = append(errs, field.Required(values, "operator In needs at least one value"))
		case r.MinValues != nil && len(r.Values) < *r.MinValues:
			errs = append(errs, field.Invalid(values, len(r.Values), fmt.Sprintf("operator In must list at least minValues values, %d", *r.MinValues)))
		}
	case corev1.NodeSelectorOpGt, corev1.NodeSelectorOpLt:
		if !oneWholeNumber(r.Values) {
			errs = append(errs, field.Invalid(values, r.Values, fmt.Sprintf("operator %s needs exactly one whole number that is not negative", r.Operator)))
		}
	case corev1.NodeSelectorOpNotIn:
	case corev1.NodeSelectorOpExists, corev1.NodeSelectorOpDoesNotExist:
		if len(r.Values) > 0 {
			errs = append(errs, field.Forbidden(values, fmt.Sprintf("operator %s takes none: leave them out", r.Operator)))
		}
	default:
		errs = append(errs, field.NotSupported(path.Child("operator"), r.Operator, []corev1.NodeSelectorOperator{
			corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn, corev1.NodeSelectorOpExists, corev1.NodeSelectorOpDoesNotExist,
			corev1.NodeSelectorOpGt, corev1.NodeSelectorOpLt,
		}))
	}
	return errs
}

func oneWholeNumber(values []string) bool {
	if len(values) != 1 || !wholeNumber.MatchString(values[0]) {
		return false
	}
	_, err := strconv.ParseInt(values[0], 10, 64)
	return err == nil
}

// durationForm is the format of a duration in the API. It excludes fractions, signs and units below a second, which Go's format allows.
var durationForm = regexp.MustCompile(`^([0-9]+[smh])+$`)

func validateDisruption(d *Disruption, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	policies := []ConsolidationPolicy{ConsolidationPolicyWhenEmpty, ConsolidationPolicyWhenUnderutilized}
	if d.ConsolidationPolicy != "" && !slices.Contains(policies, d.ConsolidationPolicy) {
		errs = append(errs, field.NotSupported(path.Child("consolidationPolicy"), d.ConsolidationPolicy, policies))
	}
	after := path.Child("consolidateAfter")
	switch {
	case d.ConsolidationPolicy == ConsolidationPolicyWhenEmpty:
		if d.ConsolidateAfter.IsZero() {
			errs = append(errs, field.Required(after, "WhenEmpty needs it: write how long a node must have been empty, such as 30s, or Never"))
		}
	case !d.ConsolidateAfter.IsZero() && !d.ConsolidateAfter.IsNever():
		errs = append(errs, field.Invalid(after, d.ConsolidateAfter.String(), "goes with WhenEmpty; with WhenUnderutilized it may only be Never: leave it out, or change the policy"))
	}
	if e := d.ExpireAfter; !e.IsZero() && !e.IsNever() && !durationForm.MatchString(e.String()) {
		errs = append(errs, field.Invalid(path.Child("expireAfter"), e.String(), "must be whole hours, minutes and seconds and not negative: write it like 90s, 1h30m or 720h, or Never"))
	}
	return errs
}
