package v1alpha1

import (
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/aws/api/v1beta1"
)

// Validate returns the errors in the node template, or nil if it is valid. Each error has the path of the field, the broken rule and the
// correction. If the releases of the generation have different rules, the most lenient rule applies, so that objects stored by any release
// are valid: ids may be combined with other conditions, and few tags are reserved.
func (n *AWSNodeTemplate) Validate() field.ErrorList {
	errs := validateName(n.Name, n.GenerateName)
	s, spec := &n.Spec, field.NewPath("spec")
	errs = append(errs, validateSelector(s.SubnetSelector, subnets, spec.Child("subnetSelector"))...)
	errs = append(errs, validateSelector(s.SecurityGroupSelector, groups, spec.Child("securityGroupSelector"))...)
	errs = append(errs, validateSelector(s.AMISelector, images, spec.Child("amiSelector"))...)
	if len(s.SubnetSelector) == 0 {
		errs = append(errs, field.Required(spec.Child("subnetSelector"), "select the subnets, such as by karpenter.sh/discovery: name-of-the-cluster"))
	}
	if len(s.SecurityGroupSelector) == 0 && s.LaunchTemplate == nil {
		errs = append(errs, field.Required(spec.Child("securityGroupSelector"), "select the security groups, or name a launchTemplate"))
	}
	errs = append(errs, validateFamily(s, spec)...)
	errs = append(errs, validateLaunchTemplate(s, spec)...)
	if _, ok := s.Tags[""]; ok {
		errs = append(errs, field.Invalid(spec.Child("tags"), "", "a tag's key must not be empty"))
	}
	return append(errs, validateInstance(s)...)
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

func validateSelector(selector map[string]string, of resource, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, key := range slices.Sorted(maps.Keys(selector)) {
		value := selector[key]
		if key == "" {
			errs = append(errs, field.Invalid(path, key, "a tag's key must not be empty"))
		}
		if value == "" {
			errs = append(errs, field.Invalid(path.Key(key), "", "must not be empty: write * for any value"))
			continue
		}
		if key != SelectorIDs && key != SelectorOldIDs {
			continue
		}
		for _, id := range split(value) {
			if !of.id.MatchString(id) {
				errs = append(errs, field.Invalid(path.Key(key), id, "not an id of a "+of.name+": ids are separated by commas"))
			}
		}
	}
	return errs
}

func validateFamily(s *AWSNodeTemplateSpec, spec *field.Path) field.ErrorList {
	if s.AMIFamily == nil {
		return nil
	}
	// AL2023 did not exist in this generation
	families := slices.DeleteFunc(v1beta1.AMIFamilies(), func(f v1beta1.AMIFamily) bool { return f == v1beta1.AMIFamilyAL2023 })
	switch {
	case !slices.Contains(families, *s.AMIFamily):
		return field.ErrorList{field.NotSupported(spec.Child("amiFamily"), *s.AMIFamily, families)}
	case *s.AMIFamily == v1beta1.AMIFamilyCustom && len(s.AMISelector) == 0:
		return field.ErrorList{field.Required(spec.Child("amiSelector"), "family Custom has no images of its own: select some")}
	}
	return nil
}

// validateLaunchTemplate refuses settings that a launch template contains itself, if LaunchTemplate is set.
func validateLaunchTemplate(s *AWSNodeTemplateSpec, spec *field.Path) field.ErrorList {
	if s.LaunchTemplate == nil {
		return nil
	}
	var errs field.ErrorList
	for _, other := range []struct {
		name  string
		given bool
	}{
		{"securityGroupSelector", len(s.SecurityGroupSelector) > 0},
		{"metadataOptions", s.MetadataOptions != nil},
		{"amiFamily", s.AMIFamily != nil},
		{"instanceProfile", s.InstanceProfile != nil},
		{"blockDeviceMappings", len(s.BlockDeviceMappings) > 0},
		{"userData", s.UserData != nil},
		{"amiSelector", len(s.AMISelector) > 0},
	} {
		if other.given {
			errs = append(errs, field.Forbidden(spec.Child(other.name), "excludes launchTemplate, which says it itself: leave one of them out"))
		}
	}
	return errs
}

// validateInstance checks the fields that v1beta1 also has, with the same rules, by the validation of v1beta1.
func validateInstance(s *AWSNodeTemplateSpec) field.ErrorList {
	role := "any"
	same := &v1beta1.EC2NodeClass{Spec: v1beta1.EC2NodeClassSpec{
		AMIFamily: v1beta1.AMIFamilyAL2, Role: &role,
		SubnetSelectorTerms:        []v1.SubnetSelectorTerm{{ID: "subnet-1"}},
		SecurityGroupSelectorTerms: []v1.SecurityGroupSelectorTerm{{ID: "sg-1"}},
	}}
	same.Name = "any"
	if o := s.MetadataOptions; o != nil {
		same.Spec.MetadataOptions = &v1beta1.MetadataOptions{
			HTTPEndpoint: o.HTTPEndpoint, HTTPProtocolIPv6: o.HTTPProtocolIPv6,
			HTTPPutResponseHopLimit: o.HTTPPutResponseHopLimit, HTTPTokens: o.HTTPTokens,
		}
	}
	var errs field.ErrorList
	for i, m := range s.BlockDeviceMappings {
		if m.DeviceName == nil || *m.DeviceName == "" {
			errs = append(errs, field.Required(field.NewPath("spec", "blockDeviceMappings").Index(i).Child("deviceName"), "say where the volume is attached, such as /dev/xvda"))
		}
		same.Spec.BlockDeviceMappings = append(same.Spec.BlockDeviceMappings, v1beta1.BlockDeviceMapping{DeviceName: m.DeviceName, EBS: m.EBS})
	}
	return append(errs, same.Validate()...)
}
