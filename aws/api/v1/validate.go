package v1

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Limits on lengths and values that the API accepts.
const (
	maxSelectorTerms       = 30
	maxSelectorTags        = 20
	maxAliasLength         = 30
	maxBlockDeviceMappings = 50
	maxNetworkInterfaces   = 150
	maxLicenses            = 10
)

// Features are optional parts of the API that a provider may support.
//
// +kubebuilder:object:generate=false
type Features struct {
	// KubeletExpressions lets maxPods and the reserved resources of the kubelet block be CEL expressions over facts of the instance
	// type. The provider checks whether an expression compiles.
	KubeletExpressions bool
}

// Validate returns the errors in the node class, or nil if it is valid. Each error has the path of the field, the broken rule and the
// correction. Unset fields are checked with their defaults. All Features are off: a provider that supports some (see aws.Config.Features)
// uses ValidateWith.
func (c *EC2NodeClass) Validate() field.ErrorList { return c.ValidateWith(Features{}) }

// ValidateWith is like Validate, for a provider that supports the given features.
func (c *EC2NodeClass) ValidateWith(features Features) field.ErrorList {
	errs := validateName(c.Name, c.GenerateName)
	s, spec := &c.Spec, field.NewPath("spec")
	errs = append(errs, validateSelectors(s, spec)...)
	errs = append(errs, validateAMIFamily(s, spec)...)
	errs = append(errs, validateIdentity(s, spec)...)
	errs = append(errs, validateTags(s.Tags, spec.Child("tags"))...)
	errs = append(errs, validateNetwork(s, spec)...)
	errs = append(errs, validateKubelet(s.Kubelet, s.EffectiveAMIFamily(), features, spec.Child("kubelet"))...)
	errs = append(errs, validateBlockDeviceMappings(s.BlockDeviceMappings, spec.Child("blockDeviceMappings"))...)
	if p := s.InstanceStorePolicy; p != nil && *p != InstanceStorePolicyRAID0 {
		errs = append(errs, field.NotSupported(spec.Child("instanceStorePolicy"), *p, []InstanceStorePolicy{InstanceStorePolicyRAID0}))
	}
	errs = append(errs, validateMetadataOptions(s.MetadataOptions, spec.Child("metadataOptions"))...)
	if o := s.CPUOptions; o != nil {
		errs = append(errs, between(o.ThreadsPerCore, spec.Child("cpuOptions", "threadsPerCore"), 1, 2)...)
		errs = append(errs, between(o.CoreCount, spec.Child("cpuOptions", "coreCount"), 1, 1024)...)
		errs = append(errs, oneOf(s.CPUOptions.NestedVirtualization, spec.Child("cpuOptions", "nestedVirtualization"), Enabled, Disabled)...)
	}
	errs = append(errs, validatePlacement(s, spec.Child("placement"))...)
	return append(errs, validateInstanceOptions(s, spec)...)
}

func validateName(name, generateName string) field.ErrorList {
	path := field.NewPath("metadata", "name")
	switch {
	case name != "":
		if problems := validation.IsDNS1123Subdomain(name); len(problems) > 0 {
			return field.ErrorList{field.Invalid(path, name, "not an object name: "+strings.Join(problems, "; "))}
		}
	case generateName == "":
		return field.ErrorList{field.Required(path, "give the object a name")}
	}
	return nil
}

// validateAMIFamily checks the family against the alias: they must not contradict each other.
func validateAMIFamily(s *EC2NodeClassSpec, spec *field.Path) field.ErrorList {
	path := spec.Child("amiFamily")
	if s.AMIFamily != "" && !slices.Contains(AMIFamilies(), s.AMIFamily) {
		return field.ErrorList{field.NotSupported(path, s.AMIFamily, AMIFamilies())}
	}
	alias, ok := s.Alias()
	switch {
	case ok && s.AMIFamily != "" && s.AMIFamily != alias.Family && s.AMIFamily != AMIFamilyCustom:
		return field.ErrorList{field.Invalid(path, s.AMIFamily,
			fmt.Sprintf("contradicts the alias %s: leave it out, or write %s or %s", alias, alias.Family, AMIFamilyCustom))}
	case !hasAlias(s) && s.AMIFamily == "":
		return field.ErrorList{field.Required(path, "without an alias in amiSelectorTerms the family can't be told: write the one your images belong to, or Custom")}
	}
	return nil
}

func hasAlias(s *EC2NodeClassSpec) bool {
	return slices.ContainsFunc(s.AMISelectorTerms, func(t AMISelectorTerm) bool { return t.Alias != "" })
}

func validateIdentity(s *EC2NodeClassSpec, spec *field.Path) field.ErrorList {
	var errs field.ErrorList
	switch {
	case s.Role == nil && s.InstanceProfile == nil:
		errs = append(errs, field.Required(spec.Child("role"), "nodes need an identity: give role or instanceProfile"))
	case s.Role != nil && s.InstanceProfile != nil:
		errs = append(errs, field.Forbidden(spec.Child("instanceProfile"), "role is given too, and a profile is made from it: give one of role and instanceProfile"))
	}
	if s.Role != nil && *s.Role == "" {
		errs = append(errs, field.Invalid(spec.Child("role"), "", "must not be empty: name the role or leave it out"))
	}
	if s.InstanceProfile != nil && *s.InstanceProfile == "" {
		errs = append(errs, field.Invalid(spec.Child("instanceProfile"), "", "must not be empty: name the profile or leave it out"))
	}
	return errs
}

func validateTags(tags map[string]string, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	reserved := []string{TagClusterName, TagNodePool, TagNodeClaim, TagNodeClass}
	for _, key := range slices.Sorted(maps.Keys(tags)) {
		switch {
		case key == "":
			errs = append(errs, field.Invalid(path, key, "a tag's key must not be empty"))
		case strings.HasPrefix(key, strings.TrimSuffix(TagClusterPrefix, "/")), slices.Contains(reserved, key):
			errs = append(errs, field.Forbidden(path.Key(key), "is set on every instance to identify its owner: remove it"))
		}
	}
	return errs
}

// oneOf returns an error if value is set and is not in the list known.
func oneOf[T ~string](value *T, path *field.Path, known ...T) field.ErrorList {
	if value == nil || slices.Contains(known, *value) {
		return nil
	}
	return field.ErrorList{field.NotSupported(path, *value, known)}
}

// between returns an error if value is set and is outside of the range from the parameter least to the parameter most.
func between[T int32 | int64](value *T, path *field.Path, least, most T) field.ErrorList {
	if value == nil || *value >= least && *value <= most {
		return nil
	}
	return field.ErrorList{field.Invalid(path, *value, fmt.Sprintf("must be between %d and %d", least, most))}
}

// notNegative returns an error if value is set and negative.
func notNegative[T int32 | int64](value *T, path *field.Path) field.ErrorList {
	if value == nil || *value >= 0 {
		return nil
	}
	return field.ErrorList{field.Invalid(path, *value, "must not be negative")}
}

// listLength returns an error if a list has more entries than the parameter most allows. The error states the number of entries, unlike the
// error of field.TooMany.
func listLength(path *field.Path, have, most int) field.ErrorList {
	if have <= most {
		return nil
	}
	e := field.TooMany(path, have, most)
	e.Detail = fmt.Sprintf("has %d entries, may have %d: remove %d", have, most, have-most)
	return field.ErrorList{e}
}
