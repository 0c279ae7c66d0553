package scheduling

import (
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// affinities adds the pod's pod affinity and anti-affinity terms.
func (x *topologyIndex) affinities(pod *corev1.Pod, add func(topologyGroup)) error {
	a := pod.Spec.Affinity
	if a == nil {
		return nil
	}
	var errs []error
	if a.PodAffinity != nil {
		errs = append(errs, x.requiredAffinity(pod, a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution, add),
			x.softTerms(pod, a.PodAffinity.PreferredDuringSchedulingIgnoredDuringExecution, kindAffinity, add))
	}
	if a.PodAntiAffinity != nil {
		for i := range a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution {
			g, err := x.termGroup(pod, &a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution[i], kindAnti)
			if err != nil {
				errs = append(errs, fmt.Errorf("podAntiAffinity term %d: %w", i, err))
				continue
			}
			add(g)
		}
		errs = append(errs, x.softTerms(pod, a.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution, kindAnti, add))
	}
	return errors.Join(errs...)
}

// requiredAffinity adds required pod affinity terms. kube-scheduler counts only pods that match all of them.
func (x *topologyIndex) requiredAffinity(pod *corev1.Pod, required []corev1.PodAffinityTerm, add func(topologyGroup)) error {
	groups := make([]topologyGroup, len(required))
	var selectors []labels.Selector
	for i := range required {
		g, err := x.termGroup(pod, &required[i], kindAffinity)
		if err != nil {
			return fmt.Errorf("podAffinity term %d: %w", i, err)
		}
		groups[i] = g
		selectors = append(selectors, g.selectors...)
	}
	for _, g := range groups {
		g.selectors = selectors
		g.namespaces = commonNamespaces(groups)
		add(g)
	}
	return nil
}

func (x *topologyIndex) softTerms(pod *corev1.Pod, list []corev1.WeightedPodAffinityTerm, kind groupKind, add func(topologyGroup)) error {
	for i := range list {
		g, err := x.termGroup(pod, &list[i].PodAffinityTerm, kind)
		if err != nil {
			return fmt.Errorf("preferred term %d: %w", i, err)
		}
		g.hard, g.weight = false, list[i].Weight
		add(g)
	}
	return nil
}

func commonNamespaces(groups []topologyGroup) []string {
	common := groups[0].namespaces
	for _, g := range groups[1:] {
		common = slices.DeleteFunc(slices.Clone(common), func(ns string) bool { return !slices.Contains(g.namespaces, ns) })
	}
	return common
}

func (x *topologyIndex) termGroup(pod *corev1.Pod, t *corev1.PodAffinityTerm, kind groupKind) (topologyGroup, error) {
	selector, err := metav1.LabelSelectorAsSelector(t.LabelSelector)
	if err != nil {
		return topologyGroup{}, err
	}
	if selector, err = withLabelKeys(selector, t.MatchLabelKeys, t.MismatchLabelKeys, pod.Labels); err != nil {
		return topologyGroup{}, err
	}
	namespaces, err := x.namespacesOf(pod, t)
	if err != nil {
		return topologyGroup{}, err
	}
	return topologyGroup{kind: kind, key: t.TopologyKey, hard: true, weight: 100, namespaces: namespaces, selectors: []labels.Selector{selector}}, nil
}

// namespacesOf resolves a term's namespaces: the pod's own when neither list nor selector is given, else the list and
// those the selector selects.
func (x *topologyIndex) namespacesOf(pod *corev1.Pod, t *corev1.PodAffinityTerm) ([]string, error) {
	if len(t.Namespaces) == 0 && t.NamespaceSelector == nil {
		return []string{pod.Namespace}, nil
	}
	out := slices.Clone(t.Namespaces)
	if t.NamespaceSelector != nil {
		x.selectsNamespaces = true
		selector, err := metav1.LabelSelectorAsSelector(t.NamespaceSelector)
		if err != nil {
			return nil, err
		}
		for name, set := range x.namespaceLabels {
			if selector.Matches(set) {
				out = append(out, name)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// listNamespace notes the labels of a namespace.
func (x *topologyIndex) listNamespace(ns *corev1.Namespace) {
	set := labels.Set{corev1.LabelMetadataName: ns.Name}
	for k, v := range ns.Labels {
		set[k] = v
	}
	x.namespaceLabels[ns.Name] = set
}

// knowNamespace makes sure that the namespaces of all pods exist for selectors, with the name label every one has.
func (x *topologyIndex) knowNamespace(name string) {
	if _, ok := x.namespaceLabels[name]; !ok {
		x.namespaceLabels[name] = labels.Set{corev1.LabelMetadataName: name}
	}
}
