package topology

import (
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// affinities adds the pod's pod affinity and anti-affinity terms.
func (x *Index) affinities(pod *corev1.Pod, add func(Group)) error {
	a := pod.Spec.Affinity
	if a == nil {
		return nil
	}
	var errs []error
	if a.PodAffinity != nil {
		errs = append(errs, x.requiredAffinity(pod, a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution, add),
			x.softTerms(pod, a.PodAffinity.PreferredDuringSchedulingIgnoredDuringExecution, Affinity, add))
	}
	if a.PodAntiAffinity != nil {
		for i := range a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution {
			g, err := x.termGroup(pod, &a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution[i], Anti)
			if err != nil {
				errs = append(errs, fmt.Errorf("podAntiAffinity term %d: %w", i, err))
				continue
			}
			add(g)
		}
		errs = append(errs, x.softTerms(pod, a.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution, Anti, add))
	}
	return errors.Join(errs...)
}

// requiredAffinity adds a group for each required pod affinity term. Each group has the selectors of all terms, because kube-scheduler
// counts only pods that match all these selectors.
func (x *Index) requiredAffinity(pod *corev1.Pod, required []corev1.PodAffinityTerm, add func(Group)) error {
	groups := make([]Group, len(required))
	var selectors []labels.Selector
	for i := range required {
		g, err := x.termGroup(pod, &required[i], Affinity)
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

func (x *Index) softTerms(pod *corev1.Pod, list []corev1.WeightedPodAffinityTerm, kind Kind, add func(Group)) error {
	for i := range list {
		g, err := x.termGroup(pod, &list[i].PodAffinityTerm, kind)
		if err != nil {
			return fmt.Errorf("preferred term %d: %w", i, err)
		}
		g.Hard, g.Weight = false, list[i].Weight
		add(g)
	}
	return nil
}

func commonNamespaces(groups []Group) []string {
	common := groups[0].namespaces
	for _, g := range groups[1:] {
		common = slices.DeleteFunc(slices.Clone(common), func(ns string) bool { return !slices.Contains(g.namespaces, ns) })
	}
	return common
}

func (x *Index) termGroup(pod *corev1.Pod, t *corev1.PodAffinityTerm, kind Kind) (Group, error) {
	selector, err := metav1.LabelSelectorAsSelector(t.LabelSelector)
	if err != nil {
		return Group{}, err
	}
	if selector, err = withLabelKeys(selector, t.MatchLabelKeys, t.MismatchLabelKeys, pod.Labels); err != nil {
		return Group{}, err
	}
	namespaces, err := x.namespacesOf(pod, t)
	if err != nil {
		return Group{}, err
	}
	return Group{Kind: kind, Key: t.TopologyKey, Hard: true, Weight: 100, namespaces: namespaces, selectors: []labels.Selector{selector}}, nil
}

// namespacesOf returns the namespaces of a term. If the term has neither a list nor a selector, the result is the pod's own namespace. In
// all other cases, the result is the namespaces in the list and the namespaces that the selector selects.
func (x *Index) namespacesOf(pod *corev1.Pod, t *corev1.PodAffinityTerm) ([]string, error) {
	if len(t.Namespaces) == 0 && t.NamespaceSelector == nil {
		return []string{pod.Namespace}, nil
	}
	out := slices.Clone(t.Namespaces)
	if t.NamespaceSelector != nil {
		x.SelectsNamespaces = true
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

// listNamespace records the labels of a namespace.
func (x *Index) listNamespace(ns *corev1.Namespace) {
	set := labels.Set{corev1.LabelMetadataName: ns.Name}
	for k, v := range ns.Labels {
		set[k] = v
	}
	x.namespaceLabels[ns.Name] = set
}

// KnowNamespace adds a namespace that the index does not know yet. Selectors can then select the namespace by the label with its name,
// which every namespace has.
func (x *Index) KnowNamespace(name string) {
	if _, ok := x.namespaceLabels[name]; !ok {
		x.namespaceLabels[name] = labels.Set{corev1.LabelMetadataName: name}
	}
}

// KnowsNamespace reports whether the namespace is known.
func (x *Index) KnowsNamespace(name string) bool {
	_, known := x.namespaceLabels[name]
	return known
}

// SetNamespaces replaces the known namespaces by the namespaces in the parameter list.
func (x *Index) SetNamespaces(list []*corev1.Namespace) {
	x.namespaceLabels = make(map[string]labels.Set, len(list))
	for _, ns := range list {
		x.listNamespace(ns)
	}
}
