package v1beta1

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/drawknife/drawknife/internal/quantities"
)

// Validate returns the errors in the buffer, or nil if it is valid. Each error has the path of the field, the broken rule and the cure. It
// does not check whether the objects that the buffer names exist; package scheduling/buffers does.
func (b *CapacityBuffer) Validate() field.ErrorList {
	errs := b.validateName()
	spec := field.NewPath("spec")
	if b.Strategy() != StrategyActiveCapacity {
		errs = append(errs, field.NotSupported(spec.Child("provisioningStrategy"), b.Strategy(), []string{StrategyActiveCapacity}))
	}
	errs = append(errs, b.Spec.validateReferences(spec)...)
	errs = append(errs, validateCount(b.Spec.Replicas, spec.Child("replicas"))...)
	errs = append(errs, validateCount(b.Spec.Percentage, spec.Child("percentage"))...)
	return append(errs, validateLimits(b.Spec.Limits, spec.Child("limits"))...)
}

func (b *CapacityBuffer) validateName() field.ErrorList {
	path := field.NewPath("metadata", "name")
	if b.Name == "" {
		if b.GenerateName != "" {
			return nil
		}
		return field.ErrorList{field.Required(path, "give the buffer a name")}
	}
	return invalid(path, b.Name, "not an object name", validation.IsDNS1123Subdomain(b.Name))
}

func (s *CapacityBufferSpec) validateReferences(spec *field.Path) field.ErrorList {
	template, scalable := spec.Child("podTemplateRef"), spec.Child("scalableRef")
	switch {
	case s.PodTemplateRef == nil && s.ScalableRef == nil:
		return field.ErrorList{field.Required(template, "name a PodTemplate here or a workload in scalableRef")}
	case s.PodTemplateRef != nil && s.ScalableRef != nil:
		return field.ErrorList{field.Forbidden(scalable, "podTemplateRef already says what the pods are made from: give one of podTemplateRef and scalableRef")}
	case s.ScalableRef != nil:
		return s.ScalableRef.validate(scalable)
	}
	var errs field.ErrorList
	if s.PodTemplateRef.Name == "" {
		errs = append(errs, field.Required(template.Child("name"), "name the PodTemplate"))
	}
	if s.Replicas == nil && len(s.Limits) == 0 {
		errs = append(errs, field.Required(spec.Child("replicas"), "say how many pods of the PodTemplate there shall be room for, here or by limits"))
	}
	return errs
}

func (r *ScalableRef) validate(path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if r.APIGroup != ScalableGroup {
		errs = append(errs, field.NotSupported(path.Child("apiGroup"), r.APIGroup, []string{ScalableGroup}))
	}
	if kinds := []string{KindDeployment, KindReplicaSet, KindStatefulSet}; !slices.Contains(kinds, r.Kind) {
		errs = append(errs, field.NotSupported(path.Child("kind"), r.Kind, kinds))
	}
	if r.Name == "" {
		errs = append(errs, field.Required(path.Child("name"), "name the workload"))
	}
	return errs
}

func validateCount(n *int32, path *field.Path) field.ErrorList {
	if n == nil || *n >= 0 {
		return nil
	}
	return field.ErrorList{field.Invalid(path, *n, "must not be negative")}
}

func validateLimits(limits corev1.ResourceList, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, name := range slices.Sorted(maps.Keys(limits)) {
		at, quantity := path.Key(string(name)), limits[name]
		errs = append(errs, invalid(at, string(name), "not a resource name", validation.IsQualifiedName(string(name)))...)
		switch {
		case quantity.Sign() < 0:
			errs = append(errs, field.Invalid(at, quantity.String(), "must not be negative"))
		case !quantities.Computable(quantity):
			errs = append(errs, field.Invalid(at, quantity.String(), "is more than anything has: check the unit and the exponent"))
		}
	}
	return errs
}

func invalid(path *field.Path, value, what string, problems []string) field.ErrorList {
	if len(problems) == 0 {
		return nil
	}
	return field.ErrorList{field.Invalid(path, value, what+": "+strings.Join(problems, "; "))}
}
