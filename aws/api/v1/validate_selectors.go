package v1

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Forms of ids. The patterns for ids of subnets, security groups and images also match inside a longer text, as in the API's own schema.
var (
	subnetIDForm              = regexp.MustCompile(`subnet-[0-9a-z]+`)
	securityGroupIDForm       = regexp.MustCompile(`sg-[0-9a-z]+`)
	amiIDForm                 = regexp.MustCompile(`ami-[0-9a-z]+`)
	capacityReservationIDForm = regexp.MustCompile(`^cr-[0-9a-z]+$`)
	placementGroupIDForm      = regexp.MustCompile(`^pg-[0-9a-z]+$`)
	accountIDForm             = regexp.MustCompile(`^[0-9]{12}$`)
)

func validateSelectors(s *EC2NodeClassSpec, spec *field.Path) field.ErrorList {
	var errs field.ErrorList

	path := spec.Child("subnetSelectorTerms")
	errs = append(errs, requiredTerms(path, len(s.SubnetSelectorTerms))...)
	for i, term := range s.SubnetSelectorTerms {
		errs = append(errs, validateTerm(path.Index(i), termFields{
			{name: "tags", given: len(term.Tags) > 0},
			{name: "id", given: term.ID != "", alone: true},
		})...)
		errs = append(errs, validateSelectorTags(term.Tags, path.Index(i).Child("tags"))...)
		errs = append(errs, matches(term.ID, subnetIDForm, path.Index(i).Child("id"), "subnet-0123456789abcdef0")...)
	}

	path = spec.Child("securityGroupSelectorTerms")
	errs = append(errs, requiredTerms(path, len(s.SecurityGroupSelectorTerms))...)
	for i, term := range s.SecurityGroupSelectorTerms {
		errs = append(errs, validateTerm(path.Index(i), termFields{
			{name: "tags", given: len(term.Tags) > 0},
			{name: "id", given: term.ID != "", alone: true},
			{name: "name", given: term.Name != "", alone: true},
		})...)
		errs = append(errs, validateSelectorTags(term.Tags, path.Index(i).Child("tags"))...)
		errs = append(errs, matches(term.ID, securityGroupIDForm, path.Index(i).Child("id"), "sg-0123456789abcdef0")...)
	}

	errs = append(errs, validateCapacityReservationTerms(s.CapacityReservationSelectorTerms, spec.Child("capacityReservationSelectorTerms"))...)
	errs = append(errs, validatePlacementGroupSelector(s.PlacementGroupSelector, spec.Child("placementGroupSelector"))...)
	return append(errs, validateAMITerms(s.AMISelectorTerms, spec.Child("amiSelectorTerms"))...)
}

func validateCapacityReservationTerms(terms []CapacityReservationSelectorTerm, path *field.Path) field.ErrorList {
	errs := listLength(path, len(terms), maxSelectorTerms)
	for i, term := range terms {
		at := path.Index(i)
		errs = append(errs, validateTerm(at, termFields{
			{name: "tags", given: len(term.Tags) > 0},
			{name: "id", given: term.ID != "", alone: true},
			{name: "ownerID", given: term.OwnerID != "", narrows: true},
			{name: "instanceMatchCriteria", given: term.InstanceMatchCriteria != ""},
		})...)
		errs = append(errs, validateSelectorTags(term.Tags, at.Child("tags"))...)
		errs = append(errs, matches(term.ID, capacityReservationIDForm, at.Child("id"), "cr-0123456789abcdef0")...)
		errs = append(errs, matches(term.OwnerID, accountIDForm, at.Child("ownerID"), "123456789012, 12 digits")...)
		if term.InstanceMatchCriteria != "" {
			errs = append(errs, oneOf(&term.InstanceMatchCriteria, at.Child("instanceMatchCriteria"), InstanceMatchCriteriaOpen, InstanceMatchCriteriaTargeted)...)
		}
	}
	return errs
}

func validatePlacementGroupSelector(selector *PlacementGroupSelector, path *field.Path) field.ErrorList {
	if selector == nil {
		return nil
	}
	if (selector.Name == nil) == (selector.ID == nil) {
		return field.ErrorList{field.Invalid(path, fieldsGiven(selector), "selects exactly one placement group: give one of name and id")}
	}
	if selector.ID != nil {
		if !placementGroupIDForm.MatchString(*selector.ID) {
			return field.ErrorList{field.Invalid(path.Child("id"), *selector.ID, "not an id: write it like pg-0123456789abcdef0")}
		}
		return nil
	}
	if *selector.Name == "" {
		return field.ErrorList{field.Invalid(path.Child("name"), "", "must not be empty: name the group, or remove the selector")}
	}
	return nil
}

func fieldsGiven(selector *PlacementGroupSelector) string {
	if selector.Name != nil {
		return "name and id"
	}
	return "neither"
}

func validateAMITerms(terms []AMISelectorTerm, path *field.Path) field.ErrorList {
	errs := requiredTerms(path, len(terms))
	for i, term := range terms {
		at := path.Index(i)
		errs = append(errs, validateTerm(at, termFields{
			{name: "alias", given: term.Alias != "", alone: true},
			{name: "tags", given: len(term.Tags) > 0},
			{name: "id", given: term.ID != "", alone: true},
			{name: "name", given: term.Name != ""},
			{name: "owner", given: term.Owner != "", narrows: true},
			{name: "ssmParameter", given: term.SSMParameter != "", alone: true},
		})...)
		errs = append(errs, validateSelectorTags(term.Tags, at.Child("tags"))...)
		errs = append(errs, matches(term.ID, amiIDForm, at.Child("id"), "ami-0123456789abcdef0")...)
		if term.Alias == "" {
			continue
		}
		if _, err := ParseAlias(term.Alias); err != nil {
			errs = append(errs, field.Invalid(at.Child("alias"), term.Alias, err.Error()))
		}
		if len(term.Alias) > maxAliasLength {
			tooLong := field.TooLong(at.Child("alias"), term.Alias, maxAliasLength)
			tooLong.Detail = fmt.Sprintf("has %d characters, may have %d: write family@version", len(term.Alias), maxAliasLength)
			errs = append(errs, tooLong)
		}
		if len(terms) > 1 {
			errs = append(errs, field.Forbidden(at.Child("alias"), "an alias stands alone: remove the other terms, or replace the alias by tags, name or id"))
		}
	}
	return errs
}

func requiredTerms(path *field.Path, have int) field.ErrorList {
	if have == 0 {
		return field.ErrorList{field.Required(path, "needs at least one term, or nothing is selected")}
	}
	return listLength(path, have, maxSelectorTerms)
}

// termField is a field of a selector term with the rules for combining it.
type termField struct {
	name  string
	given bool
	// alone means that no other field may be set together with this one.
	alone bool
	// narrows means that a term with only this field is invalid: the field must be combined with others.
	narrows bool
}

type termFields []termField

// validateTerm checks a single term. An invalid term is refused even if other terms are valid.
func validateTerm(path *field.Path, fields termFields) field.ErrorList {
	var selecting, given []string
	var loner string
	for _, f := range fields {
		if !f.narrows {
			selecting = append(selecting, f.name)
		}
		if !f.given {
			continue
		}
		given = append(given, f.name)
		if f.alone && loner == "" {
			loner = f.name
		}
	}
	selects := slices.ContainsFunc(fields, func(f termField) bool { return f.given && !f.narrows })
	switch {
	case !selects:
		return field.ErrorList{field.Required(path, "selects nothing: give "+strings.Join(selecting, " or "))}
	case loner != "" && len(given) > 1:
		others := slices.DeleteFunc(given, func(name string) bool { return name == loner })
		return field.ErrorList{field.Forbidden(path.Child(loner), fmt.Sprintf("can't be combined with %s: put them in terms of their own", strings.Join(others, ", ")))}
	}
	return nil
}

func validateSelectorTags(tags map[string]string, path *field.Path) field.ErrorList {
	errs := listLength(path, len(tags), maxSelectorTags)
	for _, key := range slices.Sorted(maps.Keys(tags)) {
		if key == "" {
			errs = append(errs, field.Invalid(path, key, "a tag's key must not be empty"))
		}
		if tags[key] == "" {
			errs = append(errs, field.Invalid(path.Key(key), "", "must not be empty: write * for any value"))
		}
	}
	return errs
}

// matches returns an error if the value is not empty and does not match the regular expression. The parameter example is a valid id for the
// message.
func matches(value string, form *regexp.Regexp, path *field.Path, example string) field.ErrorList {
	if value == "" || form.MatchString(value) {
		return nil
	}
	return field.ErrorList{field.Invalid(path, value, "not an id: write it like "+example)}
}
