package v1

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

const (
	// DefaultValidFor is how long after its creation drawknife tries to answer a request without ParameterValidUntilSeconds.
	DefaultValidFor = 7 * 24 * time.Hour

	maxPodSets         = 32
	maxParameters      = 100
	maxParameterLength = 255
	// maxValidFor limits ParameterValidUntilSeconds to values that a time.Duration can hold.
	maxValidFor = 100 * 365 * 24 * time.Hour
)

// Validate returns the errors in the request, or nil if it is valid. Each error has the path of the field, the broken rule and the
// correction. It checks parameters of known classes. Package scheduling/requests checks whether PodTemplates exist.
func (r *ProvisioningRequest) Validate() field.ErrorList {
	errs := r.validateName()
	spec := field.NewPath("spec")
	errs = append(errs, validateSubdomain(r.Spec.ProvisioningClassName, spec.Child("provisioningClassName"), "name a class, "+ClassCheckCapacity+" for example")...)
	errs = append(errs, r.Spec.validatePodSets(spec.Child("podSets"))...)
	return append(errs, r.Spec.validateParameters(spec.Child("parameters"))...)
}

// ValidateUpdate returns the errors in an update from old to r: the errors of Validate, and an error if the spec changes.
func (r *ProvisioningRequest) ValidateUpdate(old *ProvisioningRequest) field.ErrorList {
	errs := r.Validate()
	if old == nil {
		return errs
	}
	spec := field.NewPath("spec")
	for _, f := range []struct {
		name     string
		now, was any
	}{
		{"podSets", r.Spec.PodSets, old.Spec.PodSets},
		{"provisioningClassName", r.Spec.ProvisioningClassName, old.Spec.ProvisioningClassName},
		{"parameters", r.Spec.Parameters, old.Spec.Parameters},
	} {
		if !equality.Semantic.DeepEqual(f.now, f.was) {
			errs = append(errs, field.Forbidden(spec.Child(f.name), "can't be changed: make another request"))
		}
	}
	return errs
}

func (r *ProvisioningRequest) validateName() field.ErrorList {
	if r.Name == "" && r.GenerateName != "" {
		return nil
	}
	return validateSubdomain(r.Name, field.NewPath("metadata", "name"), "give the request a name")
}

func (s *ProvisioningRequestSpec) validatePodSets(path *field.Path) field.ErrorList {
	if len(s.PodSets) == 0 {
		return field.ErrorList{field.Required(path, "say which pods need room")}
	}
	var errs field.ErrorList
	if len(s.PodSets) > maxPodSets {
		errs = append(errs, field.TooMany(path, len(s.PodSets), maxPodSets))
	}
	for i, set := range s.PodSets {
		at := path.Index(i)
		errs = append(errs, validateSubdomain(set.PodTemplateRef.Name, at.Child("podTemplateRef", "name"), "name the PodTemplate")...)
		if set.Count < 1 {
			errs = append(errs, field.Invalid(at.Child("count"), set.Count, "must be at least 1"))
		}
	}
	return errs
}

func (s *ProvisioningRequestSpec) validateParameters(path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if len(s.Parameters) > maxParameters {
		errs = append(errs, field.TooMany(path, len(s.Parameters), maxParameters))
	}
	for _, name := range slices.Sorted(maps.Keys(s.Parameters)) {
		value := string(s.Parameters[name])
		if utf8.RuneCountInString(value) > maxParameterLength {
			errs = append(errs, field.TooLong(path.Key(name), "", maxParameterLength))
		}
		errs = append(errs, s.validateParameter(name, value, path.Key(name))...)
	}
	return errs
}

// validateParameter checks a parameter that the class knows.
func (s *ProvisioningRequestSpec) validateParameter(name, value string, path *field.Path) field.ErrorList {
	oneOf := func(values ...string) field.ErrorList {
		if slices.Contains(values, value) {
			return nil
		}
		return field.ErrorList{field.NotSupported(path, value, values)}
	}
	check, atomic := s.ProvisioningClassName == ClassCheckCapacity, s.ProvisioningClassName == ClassBestEffortAtomicScaleUp
	switch {
	case !Answered(s.ProvisioningClassName):
	case name == ParameterValidUntilSeconds:
		if _, err := parseSeconds(value); err != nil {
			return field.ErrorList{field.Invalid(path, value, err.Error())}
		}
	case name == ParameterNoRetry && (check || atomic):
		return oneOf("true", "false")
	case name == ParameterPartialCapacityCheck && check:
		return oneOf(PartialBook, PartialCheckOnly)
	}
	return nil
}

// Answered reports whether drawknife answers requests of the class; it ignores all others.
func Answered(class string) bool {
	return class == ClassCheckCapacity || class == ClassBestEffortAtomicScaleUp || class == ClassPlan
}

// ValidUntil returns the time until which the request is tried. An invalid parameter counts as missing.
func (r *ProvisioningRequest) ValidUntil() time.Time {
	validFor := DefaultValidFor
	if value, given := r.Spec.Parameters[ParameterValidUntilSeconds]; given {
		if d, err := parseSeconds(string(value)); err == nil {
			validFor = d
		}
	}
	return r.CreationTimestamp.Add(validFor)
}

func parseSeconds(text string) (time.Duration, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 || n > int64(maxValidFor/time.Second) {
		return 0, fmt.Errorf("must be a whole number of seconds from 0 to %d", int64(maxValidFor/time.Second))
	}
	return time.Duration(n) * time.Second, nil
}

func validateSubdomain(name string, path *field.Path, missing string) field.ErrorList {
	if name == "" {
		return field.ErrorList{field.Required(path, missing)}
	}
	if problems := validation.IsDNS1123Subdomain(name); len(problems) > 0 {
		return field.ErrorList{field.Invalid(path, name, "not an object name: "+strings.Join(problems, "; "))}
	}
	return nil
}
