package requirements

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// ValidatePodSpec validates a pod's node selector and required node affinity; path is the path of its spec. Each entry must follow
// the rules of [ValidateRequirement], and Gte and Lte are refused. In matchFields the API accepts only metadata.name, with In or NotIn
// and one name. It does not check preferred terms, because a preference can always be dropped.
func ValidatePodSpec(spec *corev1.PodSpec, lookup *Lookup, path *field.Path) field.ErrorList {
	if spec == nil {
		return nil
	}
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
	for i, e := range term.MatchFields {
		errs = append(errs, validateField(e, path.Child("matchFields").Index(i))...)
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

// validateField returns the errors in a requirement on a field of a node, by the API server's rules.
func validateField(e corev1.NodeSelectorRequirement, at *field.Path) field.ErrorList {
	switch {
	case e.Key != metav1.ObjectNameField:
		return field.ErrorList{field.NotSupported(at.Child("key"), e.Key, []string{metav1.ObjectNameField})}
	case e.Operator != OpIn && e.Operator != OpNotIn:
		return field.ErrorList{field.NotSupported(at.Child(fieldOperator), e.Operator, []corev1.NodeSelectorOperator{OpIn, OpNotIn})}
	case len(e.Values) != 1:
		return field.ErrorList{field.Invalid(at.Child("values"), e.Values, "must be one name: write a term for each node with In, a requirement for each with NotIn")}
	}
	return nil
}
