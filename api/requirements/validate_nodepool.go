package requirements

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "github.com/drawknife/drawknife/api/v1"
)

// ValidateNodePool says what is wrong with the labels, taints and requirements of a pool's template, under the
// vocabulary of the provider that is to make its nodes. It is what the condition ValidationSucceeded of the pool
// stands for. Paths begin at spec.
func ValidateNodePool(pool *v1.NodePool, lookup *Lookup) field.ErrorList {
	template := field.NewPath("spec", "template")
	spec := template.Child("spec")
	errs := ValidateTemplateLabels(pool.Spec.Template.Labels, lookup, template.Child("metadata", "labels"))
	errs = append(errs, ValidateTaints(pool.Spec.Template.Spec.Taints, pool.Spec.Template.Spec.StartupTaints, spec)...)
	for i, entry := range pool.Spec.Template.Spec.Requirements {
		at := spec.Child("requirements").Index(i)
		errs = append(errs, ValidateRequirement(entry, lookup, at)...)
		errs = append(errs, refuseNodePoolKey(entry.Key, lookup, at.Child("key"))...)
	}
	return errs
}

// ValidateTemplateLabels says what is wrong with the labels at path that a pool puts on its nodes: keys must be
// qualified names that lookup doesn't restrict, values legal label values, and the pool's own label is not theirs to
// set. Errors come in the order of the keys.
func ValidateTemplateLabels(labels map[string]string, lookup *Lookup, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, key := range sortedKeys(labels) {
		at := path.Key(key)
		errs = append(errs, validateKey(key, lookup, at)...)
		errs = append(errs, refuseNodePoolKey(key, lookup, at)...)
		errs = append(errs, validateLabelValue(labels[key], at)...)
	}
	return errs
}

// ValidateTaints says what is wrong with the lists taints and startupTaints under path, which are read as one: keys
// must be qualified names, values empty or qualified names, effects NoSchedule, PreferNoSchedule, NoExecute or empty,
// and no two taints may have the same key and effect.
func ValidateTaints(taints, startupTaints []corev1.Taint, path *field.Path) field.ErrorList {
	type identity struct {
		key    string
		effect corev1.TaintEffect
	}
	var errs field.ErrorList
	first := make(map[identity]*field.Path, len(taints)+len(startupTaints))
	check := func(taint corev1.Taint, at *field.Path) {
		errs = append(errs, validateTaint(taint, at)...)
		id := identity{taint.Key, taint.Effect}
		if other, ok := first[id]; ok {
			e := field.Duplicate(at, taint.Key+":"+string(taint.Effect))
			e.Detail = fmt.Sprintf("%s has the same key and effect: remove one of them", other)
			errs = append(errs, e)
			return
		}
		first[id] = at
	}
	for i, taint := range taints {
		check(taint, path.Child("taints").Index(i))
	}
	for i, taint := range startupTaints {
		check(taint, path.Child("startupTaints").Index(i))
	}
	return errs
}

func validateTaint(taint corev1.Taint, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if problems := validation.IsQualifiedName(taint.Key); len(problems) > 0 {
		errs = append(errs, field.Invalid(path.Child("key"), taint.Key, "not a taint key: "+strings.Join(problems, "; ")))
	}
	if taint.Value != "" {
		if problems := validation.IsQualifiedName(taint.Value); len(problems) > 0 {
			errs = append(errs, field.Invalid(path.Child("value"), taint.Value, "not a taint value: "+strings.Join(problems, "; ")))
		}
	}
	switch taint.Effect {
	case corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule, corev1.TaintEffectNoExecute, "":
	default:
		errs = append(errs, field.NotSupported(path.Child("effect"), taint.Effect,
			[]corev1.TaintEffect{corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule, corev1.TaintEffectNoExecute}))
	}
	return errs
}

// refuseNodePoolKey refuses the label that names the pool: every node of a pool has it, whatever the pool says.
func refuseNodePoolKey(key string, lookup *Lookup, path *field.Path) field.ErrorList {
	if lookup.Canonical(key) != v1.NodePoolLabelKey {
		return nil
	}
	return field.ErrorList{field.Forbidden(path, fmt.Sprintf("label %s is set to the pool's own name: leave it out", v1.NodePoolLabelKey))}
}

func sortedKeys(labels map[string]string) []string { return slices.Sorted(maps.Keys(labels)) }
