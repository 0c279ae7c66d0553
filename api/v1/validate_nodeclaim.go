package v1

import (
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Validate returns the errors in the claim, or nil if it is valid. Each error has the path of the field, the broken rule and the
// correction. See NodePool.Validate for the rules that package api/requirements checks instead.
func (c *NodeClaim) Validate() field.ErrorList {
	errs := validateName(c.ObjectMeta)
	errs = append(errs, validateLabels(c.Labels, field.NewPath("metadata", "labels"))...)
	spec := field.NewPath("spec")
	errs = append(errs, ValidateTaints(c.Spec.Taints, c.Spec.StartupTaints, spec)...)
	errs = append(errs, validateRequiredRequirements(c.Spec.Requirements, spec.Child("requirements"))...)
	errs = append(errs, validateQuantities(c.Spec.Resources.Requests, spec.Child("resources", "requests"))...)
	errs = append(errs, validateNodeClassRef(c.Spec.NodeClassRef, spec.Child("nodeClassRef"))...)
	errs = append(errs, validateGracePeriod(c.Spec.TerminationGracePeriod, spec.Child("terminationGracePeriod"))...)
	return append(errs, validateNillableDuration(c.Spec.ExpireAfter, spec.Child("expireAfter"))...)
}

// ValidateUpdate returns the errors in an update from old to c: all errors of Validate, and an error for each change of the spec, which is
// immutable. A value in another form (1h, 60m) is not a change.
func (c *NodeClaim) ValidateUpdate(old *NodeClaim) field.ErrorList {
	errs := c.Validate()
	if old == nil {
		return errs // it is new
	}
	if !unchanged(c.Spec, old.Spec) {
		errs = append(errs, field.Forbidden(field.NewPath("spec"), "the spec of a NodeClaim never changes: delete it and make another"))
	}
	return errs
}
