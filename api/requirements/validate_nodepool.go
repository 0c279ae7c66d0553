package requirements

import (
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "github.com/drawknife/drawknife/api/v1"
)

// ValidateNodePool returns the errors in the labels, taints and requirements of a pool's template. lookup is the vocabulary of the
// provider that launches its nodes. The condition ValidationSucceeded of the pool depends on these errors and those of the pool's own
// Validate, which checks the rest of the pool. Paths begin at spec.
//
// Both functions check the form of labels and taints and the range of minValues. They report these errors with the same text, so
// ToAggregate of both lists contains each error only once.
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

// ValidateTemplateLabels returns the errors in the labels at path that a pool puts on its nodes. Keys must be qualified names that lookup
// does not restrict, values must be valid label values, and the label with the pool's name must not be set. Errors come in the order of
// the keys.
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

// refuseNodePoolKey refuses the labels that contain the name of a pool. Every node of a pool gets the label of the pool's generation
// automatically, and never has the label of the other generation.
func refuseNodePoolKey(key string, lookup *Lookup, path *field.Path) field.ErrorList {
	switch key := lookup.Canonical(key); key {
	case v1.NodePoolLabelKey, provisionerNameLabelKey:
		return field.ErrorList{field.Forbidden(path, fmt.Sprintf("label %s is set to the pool's own name: leave it out", key))}
	}
	return nil
}

func sortedKeys(labels map[string]string) []string { return slices.Sorted(maps.Keys(labels)) }
