package volumes

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/drawknife/drawknife/api/requirements"
)

// maxAlternatives bounds the number of combinations of several volumes' topologies. Further combinations are dropped. In practice there are
// fewer, because real volumes have one or a few zones each, and contradictory combinations are left out.
const maxAlternatives = 1024

// zoneDelimiter separates the zones in the zone label of a volume that is in several zones.
const zoneDelimiter = "__"

// volumeTopology returns the alternatives of a volume: the terms of its node affinity, each combined with the zone and region labels that
// old volumes have. It returns false if no node can meet any alternative. For kube-scheduler, a node without zone and region labels always
// meets the volume's labels. volumeTopology does not make this exception.
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
		// Fields are ignored, because kube-scheduler matches a volume's terms only against labels. A term that is empty or can't be read
		// matches no node.
		if len(terms[i].MatchExpressions)+len(terms[i].MatchFields) == 0 {
			continue
		}
		if set, ok := x.term(terms[i].MatchExpressions); ok && labels.Intersects(set) == nil {
			out = append(out, labels.Merge(set))
		}
	}
	return out, len(out) > 0
}

// term converts the expressions of a term to a requirements.Set. It returns false if no node can match the term.
func (x *Index) term(expressions []corev1.NodeSelectorRequirement) (requirements.Set, bool) {
	var out requirements.Set
	for _, expression := range expressions {
		r, err := x.vocab.ParseNodeSelectorRequirement(expression)
		if err != nil {
			return requirements.Set{}, false
		}
		if r.Operator() == requirements.OpDoesNotExist && expression.Operator != corev1.NodeSelectorOpDoesNotExist {
			return requirements.Set{}, false // no integer meets this comparison (Gt, Lt); it does not mean that the label must be absent
		}
		one := requirements.NewSet(r)
		if out.Intersects(one) != nil {
			return requirements.Set{}, false
		}
		out = out.Merge(one)
	}
	return out, true
}

// zoneLabels returns the zones and regions to which a volume's own labels restrict it. It returns false if two of the labels contradict
// each other. A label that can't be read is ignored.
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

// classTopology returns the alternatives of the class's allowed topologies, or nil if the class has no allowed topologies. It returns false
// if no node can meet any alternative. An empty term matches no node.
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

// intern returns the number of a list of alternatives. Equal lists get the same number. A list gets the number 0 (no constraint) if one of
// its alternatives requires nothing.
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

// combine returns the cross product of the lists with these numbers, in their order. It returns false if every combination contradicts
// itself, so that no node can meet any combination. Repeated numbers are skipped.
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

// places returns a text for people about the lists of alternatives with these numbers. The alternatives of a list are joined by "or", and
// different lists are joined by "and". The number 0 means no constraint and is left out.
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

// crossProduct combines two lists of alternatives. It drops contradictions and duplicates. A nil list means no constraint. It returns false
// if no combination remains. If one of the lists is nil, the result is the other list itself, not a copy.
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
