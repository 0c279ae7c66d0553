package v1alpha5

import (
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
)

// RequirementDefault is a requirement that a webhook added to Provisioners.
//
// +kubebuilder:object:generate=false
type RequirementDefault struct {
	// Unless are label keys. If there is a requirement on one of them, with any operator, the default is not added.
	Unless []string
	// Add are the requirements that are appended, in this order, if no requirement uses a key of Unless.
	Add []corev1.NodeSelectorRequirement
}

// DefaultRequirements returns the defaults of every provider: Linux, amd64, on-demand. The caller owns the slice.
func DefaultRequirements() []RequirementDefault {
	one := func(key, value string) RequirementDefault {
		return RequirementDefault{
			Unless: []string{key},
			Add:    []corev1.NodeSelectorRequirement{{Key: key, Operator: corev1.NodeSelectorOpIn, Values: []string{value}}},
		}
	}
	return []RequirementDefault{
		one(corev1.LabelOSStable, string(corev1.Linux)),
		one(corev1.LabelArchStable, v1.ArchitectureAmd64),
		one(v1.CapacityTypeLabelKey, v1.CapacityTypeOnDemand),
	}
}

// Default appends the default requirements to the user's own. Existing requirements are found by their keys; an old name of a label
// counts as its new name. Applying it twice has no further effect.
func (p *Provisioner) Default(defaults []RequirementDefault) {
	p.Spec.Requirements = append(p.Spec.Requirements, missing(p.Spec.Requirements, defaults)...)
}

// missing returns the requirements that the defaults add to the existing ones.
func missing(requirements []corev1.NodeSelectorRequirement, defaults []RequirementDefault) []corev1.NodeSelectorRequirement {
	var out []corev1.NodeSelectorRequirement
	for _, d := range defaults {
		present := slices.ContainsFunc(requirements, func(r corev1.NodeSelectorRequirement) bool {
			return slices.Contains(d.Unless, canonicalKey(r.Key))
		})
		if present {
			continue
		}
		for _, r := range d.Add {
			out = append(out, *r.DeepCopy())
		}
	}
	return out
}

// canonicalKey returns the current name of a label that had other names in earlier versions of Kubernetes.
func canonicalKey(key string) string {
	switch key {
	case corev1.LabelFailureDomainBetaZone:
		return corev1.LabelTopologyZone
	case corev1.LabelFailureDomainBetaRegion:
		return corev1.LabelTopologyRegion
	case "beta.kubernetes.io/arch":
		return corev1.LabelArchStable
	case "beta.kubernetes.io/os":
		return corev1.LabelOSStable
	case corev1.LabelInstanceType:
		return corev1.LabelInstanceTypeStable
	}
	return key
}

// allows reports whether a label with the given value satisfies the requirement. Defaults only have the operators In and Gt.
func allows(r corev1.NodeSelectorRequirement, value string) bool {
	if r.Operator == corev1.NodeSelectorOpIn {
		return slices.Contains(r.Values, value)
	}
	have, err := strconv.ParseInt(value, 10, 64)
	bound, err2 := strconv.ParseInt(r.Values[0], 10, 64)
	return err == nil && err2 == nil && have > bound
}

// requirementText returns a requirement as text for people.
func requirementText(r corev1.NodeSelectorRequirement) string {
	text := r.Key + " " + string(r.Operator)
	if len(r.Values) > 0 {
		text += " [" + strings.Join(r.Values, ", ") + "]"
	}
	return text
}
