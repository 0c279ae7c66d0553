package v1

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Validate returns the errors in the overlay, or nil if it is valid. Each error has the path of the field, the broken rule and the
// correction. See NodePool.Validate for the rules that package api/requirements checks instead. It does not check whether overlays
// contradict each other; that is checked when they are applied.
func (o *NodeOverlay) Validate() field.ErrorList {
	errs := validateName(o.ObjectMeta)
	spec := field.NewPath("spec")
	errs = append(errs, validateRequirementList(o.Spec.Requirements, spec.Child("requirements"))...)
	for i, requirement := range o.Spec.Requirements {
		if requirement.Operator == corev1.NodeSelectorOpNotIn && len(requirement.Values) == 0 {
			errs = append(errs, field.Required(spec.Child("requirements").Index(i).Child("values"), "operator NotIn needs at least one value"))
		}
	}
	if o.Spec.Price != nil && o.Spec.PriceAdjustment != nil {
		errs = append(errs, field.Forbidden(spec.Child("priceAdjustment"), "price already replaces the price: give one of price and priceAdjustment"))
	}
	if price := o.Spec.Price; price != nil {
		if _, err := ParsePrice(*price); err != nil {
			errs = append(errs, field.Invalid(spec.Child("price"), *price, err.Error()))
		}
	}
	if adjustment := o.Spec.PriceAdjustment; adjustment != nil {
		if _, err := ParsePriceAdjustment(*adjustment); err != nil {
			errs = append(errs, field.Invalid(spec.Child("priceAdjustment"), *adjustment, err.Error()))
		}
	}
	capacity := spec.Child("capacity")
	errs = append(errs, validateQuantities(o.Spec.Capacity, capacity)...)
	for _, name := range providersOwnResources() {
		if _, ok := o.Spec.Capacity[name]; ok {
			errs = append(errs, field.Forbidden(capacity.Key(string(name)), "is the provider's alone to state: remove it"))
		}
	}
	if w := o.Spec.Weight; w != nil && (*w < 1 || *w > maxOverlayWeight) {
		errs = append(errs, field.Invalid(spec.Child("weight"), *w, fmt.Sprintf("must be between 1 and %d, or be left out", maxOverlayWeight)))
	}
	return errs
}

func providersOwnResources() []corev1.ResourceName {
	return []corev1.ResourceName{
		corev1.ResourceCPU, corev1.ResourceEphemeralStorage, corev1.ResourceMemory, corev1.ResourcePods,
	}
}
