package snapshots

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func (m *maker) spread(t *template) {
	for m.with(Spread, "spread", 40) && len(t.pod.Spec.TopologySpreadConstraints) < 2 {
		c := corev1.TopologySpreadConstraint{
			TopologyKey:       choose(m, "spread key", m.topologyKeys()...),
			MaxSkew:           int32(m.number("max skew", 1, 3)),
			WhenUnsatisfiable: choose(m, "when unsatisfiable", corev1.DoNotSchedule, corev1.ScheduleAnyway),
			LabelSelector:     m.podSelector(t),
		}
		if len(t.pod.Spec.TopologySpreadConstraints) == 1 && t.pod.Spec.TopologySpreadConstraints[0].TopologyKey == c.TopologyKey {
			return // the API server refuses a second constraint with the same key and action
		}
		if c.WhenUnsatisfiable == corev1.DoNotSchedule && m.chance("min domains", 25) {
			domains := int32(m.number("domains", 1, 4))
			c.MinDomains = &domains
		}
		if m.chance("node affinity policy", 30) {
			c.NodeAffinityPolicy = policy(choose(m, "affinity policy", corev1.NodeInclusionPolicyHonor, corev1.NodeInclusionPolicyIgnore))
		}
		if m.chance("node taints policy", 30) {
			c.NodeTaintsPolicy = policy(choose(m, "taints policy", corev1.NodeInclusionPolicyIgnore, corev1.NodeInclusionPolicyHonor))
		}
		if c.LabelSelector != nil && t.versions && m.chance("spread match label keys", 50) {
			c.MatchLabelKeys = []string{versionLabel}
		}
		t.pod.Spec.TopologySpreadConstraints = append(t.pod.Spec.TopologySpreadConstraints, c)
	}
}

func policy(p corev1.NodeInclusionPolicy) *corev1.NodeInclusionPolicy { return &p }

func (m *maker) topologyKeys() []string {
	keys := []string{zoneKey, hostnameKey, capacityKey, corev1.LabelArchStable}
	if m.has(CustomLabels) {
		keys = append(keys, tierKey)
	}
	return keys
}

// podSelector returns a selector that mostly selects the workload's own pods.
func (m *maker) podSelector(t *template) *metav1.LabelSelector {
	switch m.number("selector", 0, 7) {
	case 5:
		return &metav1.LabelSelector{MatchLabels: map[string]string{groupLabel: choose(m, "selected group", "g1", "g2")}}
	case 6:
		return &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{
			Key: appLabel, Operator: choose(m, "selector operator", metav1.LabelSelectorOpIn, metav1.LabelSelectorOpNotIn), Values: []string{choose(m, "selected app", "w-0", "w-1", "w-2")},
		}}}
	case 7:
		if m.chance("odd selector", 40) {
			return choose(m, "odd", &metav1.LabelSelector{}, nil)
		}
	}
	return &metav1.LabelSelector{MatchLabels: map[string]string{appLabel: t.app}}
}

func (m *maker) podAffinity(t *template) {
	affinity := func() *corev1.Affinity {
		if t.pod.Spec.Affinity == nil {
			t.pod.Spec.Affinity = &corev1.Affinity{}
		}
		return t.pod.Spec.Affinity
	}
	if m.with(Affinity, "pod affinity", 25) {
		p := &corev1.PodAffinity{}
		if m.chance("preferred", 30) {
			p.PreferredDuringSchedulingIgnoredDuringExecution = []corev1.WeightedPodAffinityTerm{{Weight: 10, PodAffinityTerm: m.podTerm(t)}}
		} else {
			p.RequiredDuringSchedulingIgnoredDuringExecution = m.podTerms(t)
		}
		affinity().PodAffinity = p
	}
	if m.with(AntiAffinity, "pod anti-affinity", 25) {
		p := &corev1.PodAntiAffinity{}
		if m.chance("preferred", 30) {
			p.PreferredDuringSchedulingIgnoredDuringExecution = []corev1.WeightedPodAffinityTerm{{Weight: 10, PodAffinityTerm: m.podTerm(t)}}
		} else {
			p.RequiredDuringSchedulingIgnoredDuringExecution = m.podTerms(t)
		}
		affinity().PodAntiAffinity = p
	}
}

func (m *maker) podTerms(t *template) []corev1.PodAffinityTerm {
	terms := []corev1.PodAffinityTerm{m.podTerm(t)}
	if m.chance("second term", 20) {
		terms = append(terms, m.podTerm(t))
	}
	return terms
}

func (m *maker) podTerm(t *template) corev1.PodAffinityTerm {
	term := corev1.PodAffinityTerm{TopologyKey: choose(m, "term key", m.topologyKeys()...), LabelSelector: m.podSelector(t)}
	if m.with(Namespaces, "term namespaces", 40) {
		switch m.number("which namespaces", 0, 3) {
		case 0:
			term.Namespaces = []string{"team-a"}
		case 1:
			term.NamespaceSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"team": "yes"}}
		case 2:
			term.NamespaceSelector = &metav1.LabelSelector{}
		case 3:
			term.Namespaces = []string{"default"}
			term.NamespaceSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"team": "yes"}}
		}
	}
	if term.LabelSelector != nil && t.versions {
		switch m.number("match label keys", 0, 3) {
		case 2:
			term.MatchLabelKeys = []string{versionLabel}
		case 3:
			term.MismatchLabelKeys = []string{versionLabel}
		}
	}
	return term
}

func (m *maker) ports(t *template) {
	if !m.with(Ports, "ports", 25) {
		return
	}
	port := int32(choose(m, "port", 80, 443))
	p := corev1.ContainerPort{ContainerPort: port, HostPort: port, Protocol: choose(m, "protocol", corev1.ProtocolTCP, corev1.ProtocolUDP), HostIP: choose(m, "host IP", "", "10.0.0.1", "10.0.0.2")}
	t.pod.Spec.Containers[0].Ports = append(t.pod.Spec.Containers[0].Ports, p)
}
