package requirements

import (
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "github.com/drawknife/drawknife/api/v1"
)

// ValidateNodePool says what is wrong with the labels, taints and requirements of a pool's template, under the
// vocabulary of the provider that is to make its nodes. It is what the condition ValidationSucceeded of the pool
// stands for. Paths begin at spec.
//
// The pool's own Validate checks the rest of the pool. What both look at (the form of labels and taints, the range of
// minValues) they report in the same words, so that ToAggregate of the two lists together says it once.
func ValidateNodePool(pool *v1.NodePool, lookup *Lookup) field.ErrorList {
	if pool == nil {
		return nil
	}
	template := field.NewPath("spec", "template")
	spec := template.Child("spec")
	errs := ValidateTemplateLabels(pool.Spec.Template.Labels, lookup, template.Child("metadata", "labels"))
	errs = append(errs, v1.ValidateTaints(pool.Spec.Template.Spec.Taints, pool.Spec.Template.Spec.StartupTaints, spec)...)
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

// refuseNodePoolKey refuses the labels that name the pool: every node of a pool has that of its generation, whatever the
// pool says, and none has the other's.
func refuseNodePoolKey(key string, lookup *Lookup, path *field.Path) field.ErrorList {
	switch key := lookup.Canonical(key); key {
	case v1.NodePoolLabelKey, provisionerNameLabelKey:
		return field.ErrorList{field.Forbidden(path, fmt.Sprintf("label %s is set to the pool's own name: leave it out", key))}
	}
	return nil
}

func sortedKeys(labels map[string]string) []string { return slices.Sorted(maps.Keys(labels)) }
