package v1beta1

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "github.com/drawknife/drawknife/aws/api/v1"
)

// The largest numbers of list entries that the API accepts.
const (
	maxSelectorTerms = 30
	maxSelectorTags  = 20
)

var amiIDForm = regexp.MustCompile(`ami-[0-9a-z]+`)

// Validate returns the errors in the node class, or nil if it is valid. Each error has the path of the field, the broken rule and the
// correction. Unset fields are checked with their defaults. If the releases of the generation have different rules, the most lenient rule
// applies, so that objects stored by any release are valid. Volumes may have any size from 1G to 64Ti.
func (c *EC2NodeClass) Validate() field.ErrorList {
	// Fields that v1 also has, with the same rules, are checked by the validation of v1. Valid image terms replace the image terms of the
	// class here, because v1 has other rules for images.
	same := &v1.EC2NodeClass{ObjectMeta: c.ObjectMeta, Spec: v1.EC2NodeClassSpec{
		SubnetSelectorTerms:        c.Spec.SubnetSelectorTerms,
		SecurityGroupSelectorTerms: c.Spec.SecurityGroupSelectorTerms,
		AMISelectorTerms:           []v1.AMISelectorTerm{{Alias: "al2023@latest"}},
		Role:                       c.Spec.Role,
		InstanceProfile:            c.Spec.InstanceProfile,
		BlockDeviceMappings:        hubMappings(c.Spec.BlockDeviceMappings),
		InstanceStorePolicy:        c.Spec.InstanceStorePolicy,
		MetadataOptions:            hubMetadata(c.Spec.MetadataOptions),
	}}
	errs := same.Validate()
	spec := field.NewPath("spec")
	errs = append(errs, validateImages(&c.Spec, spec)...)
	return append(errs, validateTags(c.Spec.Tags, spec.Child("tags"))...)
}

// ValidateUpdate returns the errors in an update from old to c: all errors of Validate, and an error for a change between role and
// instanceProfile.
func (c *EC2NodeClass) ValidateUpdate(old *EC2NodeClass) field.ErrorList {
	errs := c.Validate()
	if old == nil {
		return errs // there is no old object to compare with
	}
	if (c.Spec.Role == nil) != (old.Spec.Role == nil) {
		errs = append(errs, field.Forbidden(field.NewPath("spec", "role"), "role and instanceProfile can't be exchanged: make another EC2NodeClass instead"))
	}
	return errs
}

func validateImages(s *EC2NodeClassSpec, spec *field.Path) field.ErrorList {
	var errs field.ErrorList
	family, terms := spec.Child("amiFamily"), spec.Child("amiSelectorTerms")
	switch {
	case s.AMIFamily == "":
		errs = append(errs, field.Required(family, "write the family your images belong to, or Custom"))
	case !slices.Contains(AMIFamilies(), s.AMIFamily):
		errs = append(errs, field.NotSupported(family, s.AMIFamily, AMIFamilies()))
	case s.AMIFamily == AMIFamilyCustom && len(s.AMISelectorTerms) == 0:
		errs = append(errs, field.Required(terms, "family Custom has no images of its own: select some"))
	}
	errs = append(errs, atMost(terms, len(s.AMISelectorTerms), maxSelectorTerms)...)
	for i, term := range s.AMISelectorTerms {
		at := terms.Index(i)
		switch {
		case len(term.Tags) == 0 && term.ID == "" && term.Name == "":
			errs = append(errs, field.Required(at, "selects nothing: give tags or id or name"))
		case term.ID != "" && (len(term.Tags) > 0 || term.Name != "" || term.Owner != ""):
			errs = append(errs, field.Forbidden(at.Child("id"), "can't be combined with other fields: put them in terms of their own"))
		}
		if term.ID != "" && !amiIDForm.MatchString(term.ID) {
			errs = append(errs, field.Invalid(at.Child("id"), term.ID, "not an id: write it like ami-0123456789abcdef0"))
		}
		tags := at.Child("tags")
		errs = append(errs, atMost(tags, len(term.Tags), maxSelectorTags)...)
		for _, key := range slices.Sorted(maps.Keys(term.Tags)) {
			if key == "" {
				errs = append(errs, field.Invalid(tags, key, "a tag's key must not be empty"))
			}
			if term.Tags[key] == "" {
				errs = append(errs, field.Invalid(tags.Key(key), "", "must not be empty: write * for any value"))
			}
		}
	}
	return errs
}

func validateTags(tags map[string]string, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, key := range slices.Sorted(maps.Keys(tags)) {
		switch {
		case key == "":
			errs = append(errs, field.Invalid(path, key, "a tag's key must not be empty"))
		case reservedTag(key):
			errs = append(errs, field.Forbidden(path.Key(key), "is set on every instance to identify its owner: remove it"))
		}
	}
	return errs
}

// reservedTag reports whether every release of the generation reserves the key.
func reservedTag(key string) bool {
	return strings.HasPrefix(key, strings.TrimSuffix(v1.TagClusterPrefix, "/")) || key == v1.TagNodePool || key == tagManagedBy
}

// atMost returns an error if a list has more entries than the parameter most allows. The error states the number of entries, unlike the
// error of field.TooMany.
func atMost(path *field.Path, have, most int) field.ErrorList {
	if have <= most {
		return nil
	}
	e := field.TooMany(path, have, most)
	e.Detail = fmt.Sprintf("has %d entries, may have %d: remove %d", have, most, have-most)
	return field.ErrorList{e}
}
