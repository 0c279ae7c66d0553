package v1

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/drawknife/drawknife/internal/quantities"
)

// The largest lengths and values that the API accepts.
const (
	maxTemplateLabels = 100
	maxRequirements   = 100
	maxMinValues      = 50
	maxBudgets        = 50
	maxPoolWeight     = 100
	maxOverlayWeight  = 10000
)

// durationForm is the format of a duration in the API. It excludes fractions, signs and units below a second, which Go's format allows.
var durationForm = regexp.MustCompile(`^([0-9]+[smh])+$`)

// ValidateTaints returns the errors in the taints and startup taints of the object at path: keys and values that are not qualified names,
// unknown effects, and a pair of key and effect that appears more than once in the two lists.
func ValidateTaints(taints, startupTaints []corev1.Taint, path *field.Path) field.ErrorList {
	type identity struct {
		key    string
		effect corev1.TaintEffect
	}
	var errs field.ErrorList
	seen := make(map[identity]*field.Path, len(taints)+len(startupTaints))
	check := func(list []corev1.Taint, path *field.Path) {
		for i, taint := range list {
			at := path.Index(i)
			errs = append(errs, validateTaint(taint, at)...)
			id := identity{taint.Key, taint.Effect}
			if first, ok := seen[id]; ok {
				duplicate := field.Duplicate(at, taint.Key+":"+string(taint.Effect))
				duplicate.Detail = fmt.Sprintf("a key and effect may appear once in taints and startupTaints together: remove it here or at %s", first)
				errs = append(errs, duplicate)
				continue
			}
			seen[id] = at
		}
	}
	check(taints, path.Child("taints"))
	check(startupTaints, path.Child("startupTaints"))
	return errs
}

func validateTaint(taint corev1.Taint, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if taint.Key == "" {
		errs = append(errs, field.Required(path.Child("key"), "a taint needs a key such as example.com/dedicated"))
	} else {
		errs = append(errs, invalid(path.Child("key"), taint.Key, "not a taint key", validation.IsQualifiedName(taint.Key))...)
	}
	if taint.Value != "" {
		errs = append(errs, invalid(path.Child("value"), taint.Value, "not a taint value", validation.IsValidLabelValue(taint.Value))...)
	}
	known := []corev1.TaintEffect{corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule, corev1.TaintEffectNoExecute}
	switch {
	case taint.Effect == "":
		errs = append(errs, field.Required(path.Child("effect"), "a taint without effect can't be put on a node: write NoSchedule, PreferNoSchedule or NoExecute"))
	case !slices.Contains(known, taint.Effect):
		errs = append(errs, field.NotSupported(path.Child("effect"), taint.Effect, known))
	}
	return errs
}

// validateLabels checks that each label could be put on a node; the vocabulary decides which keys a user may set.
func validateLabels(labels map[string]string, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		errs = append(errs, invalid(path.Key(key), key, "not a label key", validation.IsQualifiedName(key))...)
		errs = append(errs, invalid(path.Key(key), labels[key], "not a label value", validation.IsValidLabelValue(labels[key]))...)
	}
	return errs
}

// validateRequirementList checks only the list itself; package api/requirements checks keys, operators and values.
func validateRequirementList(requirements []NodeSelectorRequirementWithMinValues, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if len(requirements) > maxRequirements {
		errs = append(errs, tooMany(path, len(requirements), maxRequirements))
	}
	for i, requirement := range requirements {
		if requirement.MinValues == nil {
			continue
		}
		at, n := path.Index(i).Child("minValues"), *requirement.MinValues
		if n < 1 || n > maxMinValues {
			errs = append(errs, field.Invalid(at, n, fmt.Sprintf("must be between 1 and %d, or be left out", maxMinValues)))
		}
	}
	return errs
}

func validateRequiredRequirements(requirements []NodeSelectorRequirementWithMinValues, path *field.Path) field.ErrorList {
	if requirements == nil {
		return field.ErrorList{field.Required(path, "write [] if any node will do")}
	}
	return validateRequirementList(requirements, path)
}

func validateNodeClassRef(ref NodeClassReference, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if ref.Group == "" {
		errs = append(errs, field.Required(path.Child("group"), "name the API group of the node class, such as karpenter.k8s.aws"))
	} else if strings.Contains(ref.Group, "/") {
		errs = append(errs, field.Invalid(path.Child("group"), ref.Group, "a group has no version: leave out the / and what follows"))
	}
	if ref.Kind == "" {
		errs = append(errs, field.Required(path.Child("kind"), "name the kind of the node class, such as EC2NodeClass"))
	}
	if ref.Name == "" {
		errs = append(errs, field.Required(path.Child("name"), "name the node class"))
	}
	return errs
}

func validateGracePeriod(d *Duration, path *field.Path) field.ErrorList {
	if d == nil {
		return nil
	}
	return validateDurationForm(d.String(), path, "leave it out to wait for ever")
}

func validateNillableDuration(d NillableDuration, path *field.Path) field.ErrorList {
	if d.IsZero() || d.IsNever() {
		return nil
	}
	return validateDurationForm(d.String(), path, "or Never")
}

func validateDurationForm(text string, path *field.Path, otherwise string) field.ErrorList {
	if durationForm.MatchString(text) {
		return nil
	}
	return field.ErrorList{field.Invalid(path, text,
		"must be whole hours, minutes and seconds and not negative: write it like 90s, 1h30m or 720h, "+otherwise)}
}

// validateQuantities checks a resource list: each name must be a resource that a node could have, and quantities must not be negative.
func validateQuantities(list corev1.ResourceList, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, name := range slices.Sorted(maps.Keys(list)) {
		at, quantity := path.Key(string(name)), list[name]
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

func validateName(meta metav1.ObjectMeta) field.ErrorList {
	path := field.NewPath("metadata", "name")
	if meta.Name == "" {
		if meta.GenerateName != "" {
			return nil
		}
		return field.ErrorList{field.Required(path, "give the object a name")}
	}
	return invalid(path, meta.Name, "not an object name", validation.IsDNS1123Subdomain(meta.Name))
}

func invalid(path *field.Path, value, what string, problems []string) field.ErrorList {
	if len(problems) == 0 {
		return nil
	}
	return field.ErrorList{field.Invalid(path, value, what+": "+strings.Join(problems, "; "))}
}

// tooMany returns the error of field.TooMany, with the length of the list, which field.TooMany leaves out.
func tooMany(path *field.Path, have, most int) *field.Error {
	e := field.TooMany(path, have, most)
	e.Detail = fmt.Sprintf("has %d entries, may have %d: remove %d", have, most, have-most)
	return e
}

// unchanged compares by meaning: quantities by value, durations by length, and an empty list equals nil.
func unchanged(a, b any) bool {
	equal := equality.Semantic.Copy()
	if err := equal.AddFuncs(
		func(a, b NillableDuration) bool { return a.Equal(b) },
		func(a, b Duration) bool { return a.Equal(b) },
		func(a, b resource.Quantity) bool {
			return a.String() == b.String() || quantities.Computable(a) && quantities.Computable(b) && a.Cmp(b) == 0
		},
	); err != nil {
		return false
	}
	return equal.DeepEqual(a, b)
}
