package requirements

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// ValidatePodSpec says what is wrong with what a pod, whose spec stands at path, demands of a node: each pair of its
// node selector and each expression of its required node affinity must keep the rules of [ValidateRequirement], and
// matchFields, Gte and Lte are refused. Preferred terms are not looked at: a preference can always be dropped.
func ValidatePodSpec(spec *corev1.PodSpec, lookup *Lookup, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, key := range sortedKeys(spec.NodeSelector) {
		at := path.Child("nodeSelector").Key(key)
		errs = append(errs, validateKey(key, lookup, at)...)
		errs = append(errs, validateLabelValue(spec.NodeSelector[key], at)...)
	}
	if spec.Affinity == nil || spec.Affinity.NodeAffinity == nil || spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return errs
	}
	terms := path.Child("affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms")
	for i, term := range spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
		errs = append(errs, validateTerm(term, lookup, terms.Index(i))...)
	}
	return errs
}

func validateTerm(term corev1.NodeSelectorTerm, lookup *Lookup, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if len(term.MatchFields) > 0 {
		errs = append(errs, field.Forbidden(path.Child("matchFields"), "a node that is still to be made has no fields to match: use matchExpressions on labels"))
	}
	for i, e := range term.MatchExpressions {
		at := path.Child("matchExpressions").Index(i)
		if e.Operator == OpGte || e.Operator == OpLte {
			errs = append(errs, field.Invalid(at.Child(fieldOperator), e.Operator, "pods may not use it: write "+strictForm(e.Operator)))
			continue
		}
		errs = append(errs, validateExpression(e.Key, e.Operator, e.Values, lookup, at)...)
	}
	return errs
}
