package volumes

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/drawknife/drawknife/api/requirements"
)

// maxAlternatives bounds the combinations of several volumes' topologies. Beyond this number the first ones are kept: real volumes have one
// or a few zones each, and contradictions reduce the number.
const maxAlternatives = 1024

// zoneDelimiter separates the zones of a volume with several zones in its zone label.
const zoneDelimiter = "__"

// volumeTopology returns the alternatives of a volume: the terms of its node affinity, each restricted by the zone and region labels of old
// volumes. It returns false if no node can meet any of them. kube-scheduler lets nodes without any zone or region label pass the second
// rule, which is not relied upon here.
func (x *Index) volumeTopology(pv *corev1.PersistentVolume) ([]requirements.Set, bool) {
	labels, ok := x.zoneLabels(pv)
	if !ok {
		return nil, false
	}
	if pv.Spec.NodeAffinity == nil || pv.Spec.NodeAffinity.Required == nil {
		return []requirements.Set{labels}, true
	}
	var out []requirements.Set
	terms := pv.Spec.NodeAffinity.Required.NodeSelectorTerms
	for i := range terms {
		// Fields are ignored: kube-scheduler matches a volume's terms only against labels. An empty term matches nothing, and neither does
		// an unreadable term.
		if len(terms[i].MatchExpressions)+len(terms[i].MatchFields) == 0 {
			continue
		}
		if set, ok := x.term(terms[i].MatchExpressions); ok && labels.Intersects(set) == nil {
			out = append(out, labels.Merge(set))
		}
	}
	return out, len(out) > 0
}

// term reads the expressions of a term. It returns false when no node can match it.
func (x *Index) term(expressions []corev1.NodeSelectorRequirement) (requirements.Set, bool) {
	var out requirements.Set
	for _, expression := range expressions {
		r, err := x.vocab.ParseNodeSelectorRequirement(expression)
		if err != nil {
			return requirements.Set{}, false
		}
		if r.Operator() == requirements.OpDoesNotExist && expression.Operator != corev1.NodeSelectorOpDoesNotExist {
			return requirements.Set{}, false // a comparison that no integer meets, which is not the label's absence
		}
		one := requirements.NewSet(r)
		if out.Intersects(one) != nil {
			return requirements.Set{}, false
		}
		out = out.Merge(one)
	}
	return out, true
}

// zoneLabels returns the zones and regions to which a volume's own labels restrict it. It returns false if two of them contradict each
// other. An unreadable label is ignored.
func (x *Index) zoneLabels(pv *corev1.PersistentVolume) (requirements.Set, bool) {
	var out requirements.Set
	for _, key := range [...]string{
		corev1.LabelFailureDomainBetaZone, corev1.LabelFailureDomainBetaRegion, corev1.LabelTopologyZone, corev1.LabelTopologyRegion,
	} {
		value, ok := pv.Labels[key]
		if !ok {
			continue
		}
		values := strings.Split(value, zoneDelimiter)
		for i := range values {
			values[i] = strings.TrimSpace(values[i])
		}
		if slices.Contains(values, "") {
			continue
		}
		one := requirements.NewSet(x.vocab.Rewrite(requirements.In(key, values...)))
		if out.Intersects(one) != nil {
			return requirements.Set{}, false
		}
		out = out.Merge(one)
	}
	return out, true
}

// classTopology returns the alternatives that a class's allowed topologies leave, or nil if the class has no such topologies. It returns
// false when no node can meet them. An empty term matches nothing.
func (x *Index) classTopology(class *storagev1.StorageClass) ([]requirements.Set, bool) {
	var out []requirements.Set
	for _, term := range class.AllowedTopologies {
		expressions := make([]corev1.NodeSelectorRequirement, len(term.MatchLabelExpressions))
		for i, e := range term.MatchLabelExpressions {
			expressions[i] = corev1.NodeSelectorRequirement{Key: e.Key, Operator: corev1.NodeSelectorOpIn, Values: e.Values}
		}
		if set, ok := x.term(expressions); ok && len(expressions) > 0 {
			out = append(out, set)
		}
	}
	return out, len(out) > 0 || len(class.AllowedTopologies) == 0
}

// intern returns the number of a list of alternatives. Equal lists have the same number. A list with an alternative that requires nothing
// is no constraint.
func (x *Index) intern(alternatives []requirements.Set) int32 {
	texts := make([]string, len(alternatives))
	for i, set := range alternatives {
		if set.Len() == 0 {
			return 0
		}
		texts[i] = set.String()
	}
	text := strings.Join(texts, "\n")
	n, ok := x.topologyText[text]
	if !ok {
		n = int32(len(x.topologies))
		x.topologies = append(x.topologies, alternatives)
		x.topologyText[text] = n
	}
	return n
}

// combine returns the cross product of numbered lists, in their order. False when every combination contradicts itself, so that no node can
// meet any: then the pod fails, as it would with the contradictions kept. A list that occurs again changes nothing.
func (x *Index) combine(lists []int32) ([]requirements.Set, bool) {
	var out []requirements.Set
	for i, list := range lists {
		if list == 0 || slices.Contains(lists[:i], list) {
			continue
		}
		var ok bool
		if out, ok = crossProduct(out, x.topologies[list]); !ok {
			return nil, false
		}
	}
	return out, true
}

// places words numbered lists of alternatives, for people.
func (x *Index) places(lists []int32) string {
	var out []string
	for i, list := range lists {
		if list == 0 || slices.Contains(lists[:i], list) {
			continue
		}
		terms := make([]string, len(x.topologies[list]))
		for j, set := range x.topologies[list] {
			terms[j] = set.String()
		}
		out = append(out, strings.Join(terms, " or "))
	}
	return strings.Join(out, ", and ")
}

// crossProduct combines two lists of alternatives, without contradictions and repetitions; nil means no constraint. False when nothing is
// left. The result may be one of the lists itself.
func crossProduct(a, b []requirements.Set) ([]requirements.Set, bool) {
	if a == nil {
		return b, true
	}
	if b == nil {
		return a, true
	}
	var out []requirements.Set
	for _, left := range a {
		for _, right := range b {
			if left.Intersects(right) != nil {
				continue
			}
			both := left.Merge(right)
			if slices.ContainsFunc(out, both.Equal) {
				continue
			}
			if out = append(out, both); len(out) == maxAlternatives {
				return out, true
			}
		}
	}
	return out, len(out) > 0
}
