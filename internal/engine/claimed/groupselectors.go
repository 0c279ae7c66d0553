package claimed

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
)

// selectors returns the node selectors of all pods of the group, because all pods must run on a node that meets all these selectors. Equal
// selectors are listed once.
func (g *deviceGroup) selectors() []*corev1.NodeSelector {
	var out []*corev1.NodeSelector
	known := sets.New[string]()
	add := func(s *corev1.NodeSelector) {
		if text := s.String(); !known.Has(text) {
			known.Insert(text)
			out = append(out, s)
		}
	}
	for _, pod := range g.pods {
		if len(pod.Spec.NodeSelector) > 0 {
			add(selectorOf(pod.Spec.NodeSelector))
		}
		if a := pod.Spec.Affinity; a != nil && a.NodeAffinity != nil && a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution != nil {
			add(a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution)
		}
	}
	return out
}

// selectorOf returns a selector for the nodes with these labels.
func selectorOf(of map[string]string) *corev1.NodeSelector {
	var term corev1.NodeSelectorTerm
	for _, key := range sets.List(sets.KeySet(of)) {
		term.MatchExpressions = append(term.MatchExpressions, corev1.NodeSelectorRequirement{Key: key, Operator: corev1.NodeSelectorOpIn, Values: []string{of[key]}})
	}
	return &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{term}}
}
