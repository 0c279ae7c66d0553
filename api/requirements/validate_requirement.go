package requirements

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "github.com/drawknife/drawknife/api/v1"
)

// maxMinValues is the largest minValues a NodePool may ask for.
const maxMinValues = 50

// ValidateRequirement returns the errors in an entry of a NodePool, NodeClaim or NodeOverlay at path. The key must be a qualified name
// that lookup does not restrict. The operator must be known and have the operands that it needs. The values must be valid label values.
// minValues must be from 1 to 50, and at most the number of values of In. In on the capacity type must list at least one known capacity
// type, and at least minValues of them. Additional unknown values are accepted (see [RequirementWarnings]).
//
// Each error names the field, the rule and what to write instead. A nil lookup knows no aliases or restrictions.
func ValidateRequirement(entry v1.NodeSelectorRequirementWithMinValues, lookup *Lookup, path *field.Path) field.ErrorList {
	errs := validateExpression(entry.Key, entry.Operator, entry.Values, lookup, path)
	errs = append(errs, validateMinValues(entry, path.Child("minValues"))...)
	if entry.Operator == OpIn && len(entry.Values) > 0 && lookup.Canonical(entry.Key) == v1.CapacityTypeLabelKey {
		errs = append(errs, validateCapacityTypes(entry, lookup, path)...)
	}
	return errs
}

// ValidateRequirements returns the errors in all entries of the list at path.
func ValidateRequirements(entries []v1.NodeSelectorRequirementWithMinValues, lookup *Lookup, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, entry := range entries {
		errs = append(errs, ValidateRequirement(entry, lookup, path.Index(i))...)
	}
	return errs
}

// RequirementWarnings returns a sentence for each value of In on the capacity type that is not a capacity type. [ValidateRequirements]
// accepts such values in addition to known capacity types, but they have no effect and are probably mistakes.
func RequirementWarnings(entries []v1.NodeSelectorRequirementWithMinValues, lookup *Lookup, path *field.Path) []string {
	var warnings []string
	for i, entry := range entries {
		if entry.Operator != OpIn || lookup.Canonical(entry.Key) != v1.CapacityTypeLabelKey {
			continue
		}
		for j, value := range entry.Values {
			if !slices.Contains(capacityTypes(), lookup.CanonicalValue(entry.Key, value)) {
				warnings = append(warnings, fmt.Sprintf("%s: %q is no capacity type and is ignored; capacity types are %s",
					path.Index(i).Child("values").Index(j), value, strings.Join(capacityTypes(), ", ")))
			}
		}
	}
	return warnings
}

// validateExpression checks the rules that entries of NodePools and expressions of pods have in common.
func validateExpression(key string, op Operator, values []string, lookup *Lookup, path *field.Path) field.ErrorList {
	errs := validateKey(key, lookup, path.Child("key"))
	if e := checkOperands(op, values); e != nil {
		errs = append(errs, operandFieldError(e, op, values, path))
	}
	for i, value := range values {
		errs = append(errs, validateLabelValue(value, path.Child("values").Index(i))...)
	}
	return errs
}

func validateKey(key string, lookup *Lookup, path *field.Path) field.ErrorList {
	if reason := lookup.Restricted(key); reason != "" {
		return field.ErrorList{field.Forbidden(path, reason)}
	}
	if problems := validation.IsQualifiedName(lookup.Canonical(key)); len(problems) > 0 {
		return field.ErrorList{field.Invalid(path, key, "not a label key: "+strings.Join(problems, "; "))}
	}
	return nil
}

func validateLabelValue(value string, path *field.Path) field.ErrorList {
	if problems := validation.IsValidLabelValue(value); len(problems) > 0 {
		return field.ErrorList{field.Invalid(path, value, "not a label value: "+strings.Join(problems, "; "))}
	}
	return nil
}

func operandFieldError(e *operandError, op Operator, values []string, path *field.Path) *field.Error {
	if e.field == fieldOperator {
		return field.Invalid(path.Child(fieldOperator), op, e.rule)
	}
	if len(values) == 0 {
		return field.Required(path.Child(fieldValues), e.rule)
	}
	return field.Invalid(path.Child(fieldValues), values, e.rule)
}

func validateMinValues(entry v1.NodeSelectorRequirementWithMinValues, path *field.Path) field.ErrorList {
	if entry.MinValues == nil {
		return nil
	}
	least := *entry.MinValues
	if least < 1 || least > maxMinValues {
		return field.ErrorList{field.Invalid(path, least, fmt.Sprintf("must be between 1 and %d, or be left out", maxMinValues))}
	}
	if n := len(sortedSet(entry.Values)); entry.Operator == OpIn && n > 0 && n < least {
		return field.ErrorList{field.Invalid(path, least, fmt.Sprintf("operator In lists only %d different values: list at least %d, or lower minValues", n, least))}
	}
	return nil
}

func validateCapacityTypes(entry v1.NodeSelectorRequirementWithMinValues, lookup *Lookup, path *field.Path) field.ErrorList {
	var known []string
	for _, value := range entry.Values {
		if value = lookup.CanonicalValue(entry.Key, value); slices.Contains(capacityTypes(), value) {
			known = append(known, value)
		}
	}
	switch n := len(sortedSet(known)); {
	case n == 0:
		return field.ErrorList{field.Invalid(path.Child(fieldValues), entry.Values, "none of the values is a capacity type: use "+strings.Join(capacityTypes(), ", "))}
	case entry.MinValues != nil && n < *entry.MinValues && len(sortedSet(entry.Values)) >= *entry.MinValues:
		return field.ErrorList{field.Invalid(path.Child("minValues"), *entry.MinValues,
			fmt.Sprintf("only %d of the values are capacity types: list more of %s, or lower minValues", n, strings.Join(capacityTypes(), ", ")))}
	}
	return nil
}

// capacityTypes returns the known capacity types.
func capacityTypes() []string {
	return []string{v1.CapacityTypeOnDemand, v1.CapacityTypeReserved, v1.CapacityTypeSpot}
}
