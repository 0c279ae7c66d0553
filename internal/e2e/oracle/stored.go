package oracle

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// asStored returns the pod as the API server would have stored it: the matchLabelKeys and mismatchLabelKeys of its (anti-)affinity terms
// are merged into the selectors. kube-scheduler relies on this and does not read these fields. This matters because a snapshot may have
// pods that an API server never stored.
func asStored(pod *corev1.Pod) *corev1.Pod {
	a := pod.Spec.Affinity
	if a == nil || (a.PodAffinity == nil && a.PodAntiAffinity == nil) {
		return pod
	}
	pod = pod.DeepCopy()
	a = pod.Spec.Affinity
	if p := a.PodAffinity; p != nil {
		mergeTerms(pod.Labels, p.RequiredDuringSchedulingIgnoredDuringExecution, p.PreferredDuringSchedulingIgnoredDuringExecution)
	}
	if p := a.PodAntiAffinity; p != nil {
		mergeTerms(pod.Labels, p.RequiredDuringSchedulingIgnoredDuringExecution, p.PreferredDuringSchedulingIgnoredDuringExecution)
	}
	return pod
}

func mergeTerms(labels map[string]string, required []corev1.PodAffinityTerm, preferred []corev1.WeightedPodAffinityTerm) {
	for i := range required {
		mergeLabelKeys(labels, &required[i])
	}
	for i := range preferred {
		mergeLabelKeys(labels, &preferred[i].PodAffinityTerm)
	}
}

// mergeLabelKeys adds one expression for each key for which the pod has a label. If the term has no selector, the keys have no effect.
// Merging twice changes nothing.
func mergeLabelKeys(labels map[string]string, term *corev1.PodAffinityTerm) {
	if term.LabelSelector == nil {
		return
	}
	add := func(keys []string, operator metav1.LabelSelectorOperator) {
		for _, key := range keys {
			value, ok := labels[key]
			if !ok {
				continue
			}
			e := metav1.LabelSelectorRequirement{Key: key, Operator: operator, Values: []string{value}}
			if !slices.ContainsFunc(term.LabelSelector.MatchExpressions, func(o metav1.LabelSelectorRequirement) bool {
				return o.Key == e.Key && o.Operator == e.Operator && slices.Equal(o.Values, e.Values)
			}) {
				term.LabelSelector.MatchExpressions = append(term.LabelSelector.MatchExpressions, e)
			}
		}
	}
	add(term.MatchLabelKeys, metav1.LabelSelectorOpIn)
	add(term.MismatchLabelKeys, metav1.LabelSelectorOpNotIn)
}
