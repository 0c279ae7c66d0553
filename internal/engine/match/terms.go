package match

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/drawknife/drawknife/api/requirements"
)

// Terms reads the node constraints of pods.
type Terms struct {
	// Vocabulary gives labels their canonical names. Pods is the vocabulary with which terms of pods are validated.
	Vocabulary, Pods *requirements.Lookup
}

// Preference is a preferred term of node affinity.
type Preference struct {
	Weight int32
	Set    Needs
}

// Required returns the alternatives that a pod's node selector and required node affinity allow. As in Kubernetes, a term without
// expressions and fields matches no node. Without affinity there is only one alternative.
func (t Terms) Required(spec *corev1.PodSpec) ([]Needs, error) {
	if errs := requirements.ValidatePodSpec(spec, t.Pods, field.NewPath("spec")); len(errs) > 0 {
		return nil, errs.ToAggregate()
	}
	selector := Of(t.Vocabulary.FromLabels(spec.NodeSelector))
	affinity := spec.Affinity
	if affinity == nil || affinity.NodeAffinity == nil || affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return []Needs{selector}, nil
	}
	var terms []Needs
	var contradiction error
	list := affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
	for i := range list {
		if len(list[i].MatchExpressions)+len(list[i].MatchFields) == 0 {
			continue
		}
		set, err := t.read(list[i].MatchExpressions)
		if err != nil {
			contradiction = fmt.Errorf("required node affinity term %d: %w", i, err)
			continue
		}
		term := selector.And(set).And(fieldNeeds(list[i].MatchFields))
		if key := term.Conflict(); key != "" {
			contradiction = fmt.Errorf("required node affinity term %d and the node selector contradict each other at label %s", i, key)
			continue
		}
		terms = append(terms, term)
	}
	if len(terms) == 0 {
		if contradiction != nil {
			return nil, contradiction
		}
		return nil, errors.New("required node affinity has no term with expressions: it matches no node")
	}
	return terms, nil
}

// read converts the expressions of one node affinity term.
func (t Terms) read(expressions []corev1.NodeSelectorRequirement) (Needs, error) {
	list := make([]requirements.Requirement, 0, len(expressions))
	for i := range expressions {
		r, err := t.Vocabulary.ParseNodeSelectorRequirement(expressions[i])
		if err != nil {
			return nil, err
		}
		list = append(list, r)
	}
	return New(list...), nil
}

// Preferred returns the preferred node affinity terms, those with the largest weight first, then in the pod's order. A term that can't be
// parsed is left out, because preferences are optional.
func (t Terms) Preferred(spec *corev1.PodSpec) []Preference {
	if spec.Affinity == nil || spec.Affinity.NodeAffinity == nil {
		return nil
	}
	var out []Preference
	for _, p := range spec.Affinity.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution {
		if len(p.Preference.MatchFields) > 0 || len(p.Preference.MatchExpressions) == 0 {
			continue
		}
		if set, err := t.read(p.Preference.MatchExpressions); err == nil {
			out = append(out, Preference{p.Weight, set})
		}
	}
	slices.SortStableFunc(out, func(a, b Preference) int { return cmp.Compare(b.Weight, a.Weight) })
	return out
}

// NamesNode reports whether the pod's required node affinity requires a node by name.
func NamesNode(spec *corev1.PodSpec) bool {
	if spec.Affinity == nil || spec.Affinity.NodeAffinity == nil || spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return false
	}
	return slices.ContainsFunc(spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms,
		func(term corev1.NodeSelectorTerm) bool { return len(term.MatchFields) > 0 })
}

// fieldNeeds reads the matchFields of a term. ValidatePodSpec has checked that each field is the node's name.
func fieldNeeds(fields []corev1.NodeSelectorRequirement) Needs {
	list := make([]requirements.Requirement, 0, len(fields))
	for i := range fields {
		if fields[i].Operator == corev1.NodeSelectorOpIn {
			list = append(list, requirements.In(NodeName, fields[i].Values...))
		} else {
			list = append(list, requirements.NotIn(NodeName, fields[i].Values...))
		}
	}
	return New(list...)
}

// Placement returns the alternatives of nodes where the pod may run: the alternatives of Required, restricted to the pod's operating
// system. kube-scheduler ignores spec.os, but the kubelet of a different system rejects the pod. Spread constraints count the nodes that
// Required allows, as in kube-scheduler.
func (t Terms) Placement(spec *corev1.PodSpec) ([]Needs, error) {
	terms, err := t.Required(spec)
	if err != nil || spec.OS == nil || spec.OS.Name == "" {
		return terms, err
	}
	system := Of(t.Vocabulary.FromLabels(map[string]string{corev1.LabelOSStable: string(spec.OS.Name)}))
	out := make([]Needs, len(terms))
	for i, term := range terms {
		out[i] = term.And(system)
	}
	return out, nil
}

// Preferring reports whether the pod prefers some nodes.
func Preferring(spec *corev1.PodSpec) bool {
	return spec.Affinity != nil && spec.Affinity.NodeAffinity != nil &&
		len(spec.Affinity.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution) > 0
}
