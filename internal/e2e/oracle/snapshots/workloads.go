package snapshots

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Labels of pods: the workload, one of two groups of workloads, and the version of the workload.
const (
	appLabel     = "app"
	groupLabel   = "group"
	versionLabel = "version"
)

const (
	mostWorkloads = 6
	mostReplicas  = 5
	mostPods      = 25
)

// template has the common properties of the pods of one workload.
type template struct {
	app      string
	pod      corev1.Pod
	replicas int
	// versions is true if the pods of the workload have two versions.
	versions bool
	// volumes are made for each pod.
	volumes []volume
	// made is the number of pods made so far.
	made int
}

func (m *maker) workloads() {
	left := mostPods
	m.templates = list(m, "workloads", 1, mostWorkloads, func() *template {
		t := m.template(m.name("w"))
		t.replicas = min(m.number("replicas", 1, mostReplicas), left)
		left -= t.replicas
		return t
	})
}

func (m *maker) template(app string) *template {
	t := &template{app: app}
	t.pod.Namespace = m.s.Namespaces[m.number("namespace", 0, len(m.s.Namespaces)-1)].Name
	t.pod.Labels = map[string]string{appLabel: app, groupLabel: choose(m, "group", "g1", "g2")}
	spec := &t.pod.Spec
	spec.Containers = []corev1.Container{{Name: "main", Resources: m.requests()}}
	if m.with(Extended, "init container", 15) {
		c := corev1.Container{Name: "init", Resources: m.requests()}
		if m.chance("sidecar", 50) {
			always := corev1.ContainerRestartPolicyAlways
			c.RestartPolicy = &always
		}
		spec.InitContainers = append(spec.InitContainers, c)
	}
	if m.with(Extended, "overhead", 10) {
		spec.Overhead = amounts(map[corev1.ResourceName]string{corev1.ResourceCPU: "150m", corev1.ResourceMemory: "200Mi"})
	}
	if m.with(Selectors, "node selector", 30) {
		key, values := m.labelValues()
		spec.NodeSelector = map[string]string{key: choose(m, "selected", values...)}
	}
	if m.with(Selectors, "required node affinity", 30) {
		terms := []corev1.NodeSelectorTerm{m.nodeTerm()}
		for m.chance("another term", 60) && len(terms) < 3 {
			terms = append(terms, m.nodeTerm())
		}
		nodeAffinity(spec).RequiredDuringSchedulingIgnoredDuringExecution = &corev1.NodeSelector{NodeSelectorTerms: terms}
	}
	if m.has(Nodes) && m.has(Selectors) && m.with(NodeNames, "node name", 10) {
		field := corev1.NodeSelectorRequirement{Key: metav1.ObjectNameField,
			Operator: choose(m, "name operator", corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn), Values: []string{choose(m, "node named", "node-0", "node-1", "node-2")}}
		required := &nodeAffinity(spec).RequiredDuringSchedulingIgnoredDuringExecution
		if *required == nil {
			*required = &corev1.NodeSelector{}
		}
		(*required).NodeSelectorTerms = append((*required).NodeSelectorTerms, corev1.NodeSelectorTerm{MatchFields: []corev1.NodeSelectorRequirement{field}})
	}
	if m.with(Preferences, "preferred node affinity", 25) {
		for range m.number("preferences", 1, 2) {
			a := nodeAffinity(spec)
			a.PreferredDuringSchedulingIgnoredDuringExecution = append(a.PreferredDuringSchedulingIgnoredDuringExecution,
				corev1.PreferredSchedulingTerm{Weight: int32(choose(m, "preference weight", 1, 10, 100)), Preference: m.nodeTerm()})
		}
	}
	spec.Tolerations = m.tolerations()
	if m.with(Priorities, "priority", 40) {
		priority := int32(choose(m, "priority value", 10, 1000, -5))
		spec.Priority = &priority
	}
	t.versions = (m.has(Spread) || m.has(Affinity) || m.has(AntiAffinity)) && m.chance("versions", 25)
	m.spread(t)
	m.podAffinity(t)
	m.ports(t)
	m.volumes(t)
	m.inlineDisk(spec)
	return t
}

func (m *maker) requests() corev1.ResourceRequirements {
	r := map[corev1.ResourceName]string{
		corev1.ResourceCPU:    choose(m, "cpu", "500m", "100m", "1", "2", "3500m", "0", "7"),
		corev1.ResourceMemory: choose(m, "memory", "512Mi", "64Mi", "1Gi", "3Gi", "7Gi", "0"),
	}
	if m.with(Extended, "gpu", 10) {
		r[gpuName] = "1"
	}
	if m.with(Overlays, "extra", 10) {
		r[extraName] = "1"
	}
	return corev1.ResourceRequirements{Requests: amounts(r)}
}

// labelValues draws a node label that pods require, with values of which only some exist.
func (m *maker) labelValues() (key string, values []string) {
	keys := []string{zoneKey, capacityKey, corev1.LabelArchStable, familyKey, corev1.LabelInstanceTypeStable}
	if m.has(CustomLabels) {
		keys = append(keys, tierKey, teamKey)
	}
	if m.has(Reservations) {
		keys = append(keys, reservationKey)
	}
	switch key = choose(m, "label", keys...); key {
	case zoneKey:
		return key, m.zones
	case capacityKey:
		return key, m.capacityTypes()
	case reservationKey:
		return key, []string{"r-1", "r-2", "r-3"}
	case corev1.LabelArchStable:
		return key, []string{"amd64", "arm64"}
	case familyKey:
		return key, []string{"f1", "f2", "f3"}
	case tierKey:
		return key, []string{"gold", "silver", "bronze"}
	case teamKey:
		return key, []string{"red", "blue"}
	}
	for _, t := range m.s.Catalogs[catalogName] {
		values = append(values, t.Name)
	}
	return key, values
}

func (m *maker) nodeTerm() corev1.NodeSelectorTerm {
	var term corev1.NodeSelectorTerm
	if m.chance("empty term", 3) {
		return term // matches nothing
	}
	for range m.number("expressions", 1, 2) {
		term.MatchExpressions = append(term.MatchExpressions, m.expression())
	}
	return term
}

func (m *maker) expression() corev1.NodeSelectorRequirement {
	if m.chance("compares", 15) {
		return corev1.NodeSelectorRequirement{Key: coresKey, Operator: choose(m, "comparison", corev1.NodeSelectorOpGt, corev1.NodeSelectorOpLt), Values: []string{choose(m, "cores bound", "1", "3", "8")}}
	}
	key, values := m.labelValues()
	e := corev1.NodeSelectorRequirement{Key: key, Operator: choose(m, "operator", corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn, corev1.NodeSelectorOpExists, corev1.NodeSelectorOpDoesNotExist)}
	if e.Operator == corev1.NodeSelectorOpIn || e.Operator == corev1.NodeSelectorOpNotIn {
		e.Values = distinct(some(m, "values", values))
	}
	return e
}

func nodeAffinity(spec *corev1.PodSpec) *corev1.NodeAffinity {
	if spec.Affinity == nil {
		spec.Affinity = &corev1.Affinity{}
	}
	if spec.Affinity.NodeAffinity == nil {
		spec.Affinity.NodeAffinity = &corev1.NodeAffinity{}
	}
	return spec.Affinity.NodeAffinity
}

// pods makes the pending pods.
func (m *maker) pods() {
	for _, t := range m.templates {
		for range t.replicas {
			m.s.Pods = append(m.s.Pods, m.instance(t))
		}
	}
}

// instance returns the next pod of a workload.
func (m *maker) instance(t *template) *corev1.Pod {
	pod := t.pod.DeepCopy()
	pod.Name = fmt.Sprintf("%s-%d", t.app, t.made)
	pod.UID = types.UID(pod.Namespace + "-" + pod.Name)
	pod.CreationTimestamp = metav1.Time{Time: m.s.Time}
	t.made++
	if t.versions {
		pod.Labels[versionLabel] = choose(m, "version", "v1", "v2")
	}
	m.attach(t, pod)
	return pod
}
