package v1alpha5

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/api/v1beta1"
)

// Validate returns the errors in the Provisioner, or nil if it is valid. Each error has the path of the field, the broken rule and the
// correction. If the releases of the generation have different rules, the most lenient rule applies, so that objects stored by any release
// are valid. Whether a label key is restricted depends on the provider's vocabulary; package api/requirements checks that on the converted
// pool. It does not check the inline provider block, which the provider checks.
func (p *Provisioner) Validate() field.ErrorList {
	// Fields that have the same rules in v1beta1 are checked by v1beta1's rules, even if v1beta1 has them at another path.
	same := &v1beta1.NodePool{ObjectMeta: p.ObjectMeta, Spec: v1beta1.NodePoolSpec{Weight: p.Spec.Weight}}
	same.Spec.Template.Labels = p.Spec.Labels
	same.Spec.Template.Spec = v1beta1.NodeClaimSpec{
		Taints: p.Spec.Taints, StartupTaints: p.Spec.StartupTaints, Requirements: betaRequirements(p.Spec.Requirements),
		Kubelet: kubeletToBeta(p.Spec.KubeletConfiguration), NodeClassRef: v1beta1.NodeClassReference{Name: "any"},
	}
	if p.Spec.Limits != nil {
		same.Spec.Limits = p.Spec.Limits.Resources
	}
	errs := relocate(same.Validate(), strings.NewReplacer(
		"spec.template.spec.kubelet", "spec.kubeletConfiguration", "spec.template.spec", "spec", "spec.template.metadata", "spec",
		"spec.limits", "spec.limits.resources",
	))
	spec := field.NewPath("spec")
	errs = append(errs, validateProvisionerLabels(p.Spec.Labels, spec.Child("labels"))...)
	errs = append(errs, validatePoolRequirement(p.Spec.Requirements, spec.Child("requirements"))...)
	errs = append(errs, notNegative(p.Spec.TTLSecondsAfterEmpty, spec.Child("ttlSecondsAfterEmpty"))...)
	errs = append(errs, notNegative(p.Spec.TTLSecondsUntilExpired, spec.Child("ttlSecondsUntilExpired"))...)
	if p.Consolidates() && p.Spec.TTLSecondsAfterEmpty != nil {
		errs = append(errs, field.Forbidden(spec.Child("ttlSecondsAfterEmpty"), "excludes consolidation.enabled, which removes empty nodes too: leave one of them out"))
	}
	if p.Spec.Provider != nil && p.Spec.ProviderRef != nil {
		errs = append(errs, field.Forbidden(spec.Child("provider"), "excludes providerRef: leave one of them out"))
	}
	if ref := p.Spec.ProviderRef; ref != nil && ref.Name == "" {
		errs = append(errs, field.Required(spec.Child("providerRef", "name"), "name the node template"))
	}
	return errs
}

// Validate returns the errors in the Machine, or nil if it is valid. Each error has the path of the field, the broken rule and the
// correction. See Provisioner.Validate for what package api/requirements checks instead.
func (m *Machine) Validate() field.ErrorList {
	same := &v1beta1.NodeClaim{ObjectMeta: m.ObjectMeta, Spec: v1beta1.NodeClaimSpec{
		Taints: m.Spec.Taints, StartupTaints: m.Spec.StartupTaints, Requirements: betaRequirements(m.Spec.Requirements),
		Resources: m.Spec.Resources, Kubelet: kubeletToBeta(m.Spec.Kubelet), NodeClassRef: v1beta1.NodeClassReference{Name: "any"},
	}}
	errs := relocate(same.Validate(), strings.NewReplacer())
	if ref := m.Spec.MachineTemplateRef; ref != nil && ref.Name == "" {
		errs = append(errs, field.Required(field.NewPath("spec", "machineTemplateRef", "name"), "name the node template"))
	}
	return errs
}

// betaRequirements converts requirements to v1beta1. It never returns nil, because v1beta1 refuses a missing list.
func betaRequirements(requirements []corev1.NodeSelectorRequirement) []v1beta1.NodeSelectorRequirementWithMinValues {
	out := make([]v1beta1.NodeSelectorRequirementWithMinValues, len(requirements))
	for i, r := range requirements {
		out[i] = requirementToBeta(r)
	}
	return out
}

// relocate changes the paths of errors to the names of this generation. It drops errors about the length of lists, which this generation
// does not limit.
func relocate(errs field.ErrorList, names *strings.Replacer) field.ErrorList {
	errs = slices.DeleteFunc(errs, func(e *field.Error) bool { return e.Type == field.ErrorTypeTooMany })
	for _, e := range errs {
		e.Field = names.Replace(e.Field)
		// v1beta1's error about the pool's label names the label of v1beta1.
		e.Detail = strings.ReplaceAll(e.Detail, v1.NodePoolLabelKey, ProvisionerNameLabelKey)
	}
	return errs
}

func validateProvisionerLabels(labels map[string]string, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, key := range []string{ProvisionerNameLabelKey, EmptinessTimestampAnnotationKey} {
		if _, ok := labels[key]; ok {
			errs = append(errs, field.Forbidden(path.Key(key), "is set on each node by itself: leave it out"))
		}
	}
	return errs
}

func validatePoolRequirement(requirements []corev1.NodeSelectorRequirement, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, r := range requirements {
		if r.Key == ProvisionerNameLabelKey {
			errs = append(errs, field.Forbidden(path.Index(i).Child("key"), "is set to the Provisioner's own name: leave the requirement out"))
		}
	}
	return errs
}

func notNegative(n *int64, path *field.Path) field.ErrorList {
	if n == nil || *n >= 0 {
		return nil
	}
	return field.ErrorList{field.Invalid(path, *n, "must not be negative: write seconds, or leave it out for never")}
}
