package planvalidator

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apilabels "k8s.io/apimachinery/pkg/labels"
)

// picks selects the pods that a rule is about: pods in one of the namespaces whose labels match the selector.
type picks struct {
	namespaces []string
	selector   apilabels.Selector
}

func (p picks) has(pod *corev1.Pod) bool {
	return slices.Contains(p.namespaces, pod.Namespace) && p.selector.Matches(apilabels.Set(pod.Labels))
}

// selectorOf returns the label selector of a rule, with additional requirements for matchLabelKeys and mismatchLabelKeys. A missing or
// invalid selector selects nothing.
func selectorOf(s *metav1.LabelSelector, match, mismatch []string, pod *corev1.Pod) apilabels.Selector {
	if s == nil {
		return apilabels.Nothing()
	}
	joined := s.DeepCopy()
	for op, keys := range map[metav1.LabelSelectorOperator][]string{metav1.LabelSelectorOpIn: match, metav1.LabelSelectorOpNotIn: mismatch} {
		for _, key := range keys {
			if v, ok := pod.Labels[key]; ok {
				joined.MatchExpressions = append(joined.MatchExpressions, metav1.LabelSelectorRequirement{Key: key, Operator: op, Values: []string{v}})
			}
		}
	}
	out, err := metav1.LabelSelectorAsSelector(joined)
	if err != nil {
		return apilabels.Nothing()
	}
	return out
}

// picksOf returns the pods that a term of pod affinity or anti-affinity selects.
func (c *checker) picksOf(t *corev1.PodAffinityTerm, pod *corev1.Pod) picks {
	out := picks{selector: selectorOf(t.LabelSelector, t.MatchLabelKeys, t.MismatchLabelKeys, pod)}
	if len(t.Namespaces) == 0 && t.NamespaceSelector == nil {
		out.namespaces = []string{pod.Namespace}
		return out
	}
	out.namespaces = slices.Clone(t.Namespaces)
	if t.NamespaceSelector == nil {
		return out
	}
	selector, err := metav1.LabelSelectorAsSelector(t.NamespaceSelector)
	if err != nil {
		return out
	}
	for name, set := range c.namespaces {
		if selector.Matches(set) {
			out.namespaces = append(out.namespaces, name)
		}
	}
	return out
}

// readNamespaces finds the labels of each namespace that the snapshot lists or that has a pod.
func (c *checker) readNamespaces() {
	c.namespaces = map[string]apilabels.Set{}
	know := func(name string, own map[string]string) {
		set := apilabels.Set{corev1.LabelMetadataName: name}
		for k, v := range own {
			set[k] = v
		}
		c.namespaces[name] = set
	}
	for key := range c.pods {
		know(key.Namespace, nil)
	}
	for i := range c.s.Nodes {
		for _, pod := range c.s.Nodes[i].Pods {
			know(pod.Namespace, nil)
		}
	}
	for _, ns := range c.s.Namespaces {
		know(ns.Name, ns.Labels)
	}
}

// spreadRefuses checks the pod's hard spread constraints for the node. With the pod, the number of matching pods in the node's domain may
// exceed the number in the emptiest domain by at most maxSkew. The domains are the domains of the nodes that the constraint counts. If
// there are fewer domains than minDomains, the emptiest domain counts as one without pods.
func (w *world) spreadRefuses(m *node, pod *corev1.Pod) string {
	for i := range pod.Spec.TopologySpreadConstraints {
		s := &pod.Spec.TopologySpreadConstraints[i]
		if s.WhenUnsatisfiable == corev1.ScheduleAnyway {
			continue
		}
		own := w.domain(m, s.TopologyKey)
		if own == "" {
			return "no domain " + s.TopologyKey
		}
		members := picks{[]string{pod.Namespace}, selectorOf(s.LabelSelector, s.MatchLabelKeys, nil, pod)}
		counts := map[string]int{}
		for _, other := range w.nodes {
			d := w.domain(other, s.TopologyKey)
			if d == "" || !w.noticed(s, pod, other) {
				continue
			}
			counts[d] += 0
			for _, x := range other.pods {
				if x.DeletionTimestamp == nil && members.has(x) {
					counts[d]++
				}
			}
		}
		least := counts[own]
		for _, n := range counts {
			least = min(least, n)
		}
		if s.MinDomains != nil && len(counts) < int(*s.MinDomains) {
			least = 0
		}
		after := counts[own]
		if members.has(pod) {
			after++
		}
		if after-least > int(max(s.MaxSkew, 1)) {
			return fmt.Sprintf("spread over %s: %d in %s, %d elsewhere", s.TopologyKey, after, own, least)
		}
	}
	return ""
}

// noticed reports whether the pod's spread constraint counts the node's domain and the pods on the node. If a node lacks the topology key
// of one of the pod's hard constraints, none of these constraints counts the node, as in kube-scheduler.
func (w *world) noticed(s *corev1.TopologySpreadConstraint, pod *corev1.Pod, m *node) bool {
	for i := range pod.Spec.TopologySpreadConstraints {
		if x := &pod.Spec.TopologySpreadConstraints[i]; x.WhenUnsatisfiable != corev1.ScheduleAnyway && w.domain(m, x.TopologyKey) == "" {
			return false
		}
	}
	chooses := pod
	if itself := w.c.asTheyAre[pod]; itself != nil {
		chooses = itself
	}
	if (s.NodeAffinityPolicy == nil || *s.NodeAffinityPolicy == corev1.NodeInclusionPolicyHonor) && !m.labels.meetAny(w.c.selected(&chooses.Spec)) {
		return false
	}
	return s.NodeTaintsPolicy == nil || *s.NodeTaintsPolicy != corev1.NodeInclusionPolicyHonor || blocking(&pod.Spec, m.taints) == nil
}

// affinityRefuses checks whether the pod's required affinity and anti-affinity, and the required anti-affinity of the pods that are on
// nodes, allow the pod on the node.
func (w *world) affinityRefuses(m *node, pod *corev1.Pod) string {
	for _, t := range antiTerms(pod) {
		if w.inDomainOf(m, t.TopologyKey, w.c.picksOf(&t, pod).has) {
			return "anti-affinity by " + t.TopologyKey
		}
	}
	for _, other := range w.nodes {
		for _, x := range other.pods {
			for _, t := range antiTerms(x) {
				d := w.domain(other, t.TopologyKey)
				if d != "" && d == w.domain(m, t.TopologyKey) && w.c.picksOf(&t, x).has(pod) {
					return fmt.Sprintf("anti-affinity of %s by %s", x.Name, t.TopologyKey)
				}
			}
		}
	}
	if pod.Spec.Affinity == nil || pod.Spec.Affinity.PodAffinity == nil {
		return ""
	}
	return w.mustFollow(m, pod, pod.Spec.Affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution)
}

// mustFollow checks the pod's required pod affinity. For each term, the node's domain must have a pod that all terms select. If no pod on
// any node is selected by all terms, it suffices that all terms select the pod itself.
func (w *world) mustFollow(m *node, pod *corev1.Pod, terms []corev1.PodAffinityTerm) string {
	all := func(x *corev1.Pod) bool {
		return !slices.ContainsFunc(terms, func(t corev1.PodAffinityTerm) bool { return !w.c.picksOf(&t, pod).has(x) })
	}
	met, somewhere := true, false
	for _, t := range terms {
		if w.domain(m, t.TopologyKey) == "" {
			return "no domain " + t.TopologyKey
		}
		met = met && w.inDomainOf(m, t.TopologyKey, all)
		for _, other := range w.nodes {
			somewhere = somewhere || w.domain(other, t.TopologyKey) != "" && slices.ContainsFunc(other.pods, all)
		}
	}
	if met || !somewhere && all(pod) {
		return ""
	}
	return "pod affinity"
}

// inDomainOf reports whether a node in the same domain as the node m has a pod that satisfies the given condition.
func (w *world) inDomainOf(m *node, key string, is func(*corev1.Pod) bool) bool {
	d := w.domain(m, key)
	return d != "" && slices.ContainsFunc(w.nodes, func(other *node) bool {
		return w.domain(other, key) == d && slices.ContainsFunc(other.pods, is)
	})
}

func antiTerms(pod *corev1.Pod) []corev1.PodAffinityTerm {
	if pod.Spec.Affinity == nil || pod.Spec.Affinity.PodAntiAffinity == nil {
		return nil
	}
	return pod.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution
}

// portClash names a host port that both the given pod and one of the other pods need, or returns "" if they need no common port.
func portClash(others []*corev1.Pod, pod *corev1.Pod) string {
	for _, want := range portsOf(pod) {
		for _, x := range others {
			for _, have := range portsOf(x) {
				if have.HostPort == want.HostPort && have.Protocol == want.Protocol && (have.HostIP == want.HostIP || have.HostIP == "" || want.HostIP == "") {
					return fmt.Sprintf("port %d", want.HostPort)
				}
			}
		}
	}
	return ""
}

// portsOf returns the host ports of a pod's containers and sidecars, with default protocol and address filled in.
func portsOf(pod *corev1.Pod) []corev1.ContainerPort {
	var out []corev1.ContainerPort
	note := func(ctr corev1.Container) {
		for _, p := range ctr.Ports {
			if p.HostPort <= 0 {
				continue
			}
			if p.Protocol == "" {
				p.Protocol = corev1.ProtocolTCP
			}
			if p.HostIP == "0.0.0.0" || p.HostIP == "::" {
				p.HostIP = ""
			}
			out = append(out, p)
		}
	}
	for _, ctr := range pod.Spec.Containers {
		note(ctr)
	}
	for _, ctr := range pod.Spec.InitContainers {
		if ctr.RestartPolicy != nil && *ctr.RestartPolicy == corev1.ContainerRestartPolicyAlways {
			note(ctr)
		}
	}
	return out
}
