package scheduling

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/drawknife/drawknife/internal/engine/volumes"
)

// Reading a pod's rules means parsing selectors, and the pods of one workload state the same rules. So what one of them
// was found to own is remembered by the text of all that collect reads.

// ownedRules is what collect returned.
type ownedRules struct {
	owns []int32
	err  error
}

// ruleKey writes everything that collect reads in the pod. It reports false for pods whose rules depend on more: host
// ports, volumes yet to be made, disks that they name, and the cluster's default spreading, which looks at Services and owners.
func (x *topologyIndex) ruleKey(pod *corev1.Pod) ([]byte, bool) {
	spec := &pod.Spec
	if hasHostPorts(spec) || len(x.unmade(pod)) > 0 || len(volumes.Disks(spec)) > 0 || (len(spec.TopologySpreadConstraints) == 0 && x.defaults.any()) {
		return nil, false
	}
	w := &x.writer
	w.buf = w.buf[:0]
	w.text(pod.Namespace)
	w.number(int64(len(spec.TopologySpreadConstraints)))
	for i := range spec.TopologySpreadConstraints {
		w.spread(&spec.TopologySpreadConstraints[i], pod.Labels)
	}
	if len(spec.TopologySpreadConstraints) > 0 {
		w.labels(spec.NodeSelector)
		w.tolerations(spec.Tolerations)
	}
	a := spec.Affinity
	if a == nil {
		w.number(-1)
		return w.buf, true
	}
	if a.NodeAffinity != nil {
		w.number(1)
		w.nodeAffinity(a.NodeAffinity)
	} else {
		w.number(0)
	}
	w.podAffinity(a, pod.Labels)
	return w.buf, true
}

// podAffinity writes the terms about other pods.
func (w *keyWriter) podAffinity(a *corev1.Affinity, own map[string]string) {
	if a.PodAffinity != nil {
		w.podTerms(a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution, a.PodAffinity.PreferredDuringSchedulingIgnoredDuringExecution, own)
	} else {
		w.number(-1)
	}
	if a.PodAntiAffinity != nil {
		w.podTerms(a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution, a.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution, own)
	} else {
		w.number(-1)
	}
}

func (w *keyWriter) spread(c *corev1.TopologySpreadConstraint, own map[string]string) {
	w.text(c.TopologyKey)
	w.text(string(c.WhenUnsatisfiable))
	w.number(int64(c.MaxSkew))
	if c.MinDomains != nil {
		w.number(int64(*c.MinDomains))
	} else {
		w.number(-1)
	}
	for _, policy := range [2]*corev1.NodeInclusionPolicy{c.NodeAffinityPolicy, c.NodeTaintsPolicy} {
		if policy != nil {
			w.text(string(*policy))
		} else {
			w.text("")
		}
	}
	w.selector(c.LabelSelector)
	w.valuesOf(c.MatchLabelKeys, own)
}

func (w *keyWriter) podTerms(required []corev1.PodAffinityTerm, preferred []corev1.WeightedPodAffinityTerm, own map[string]string) {
	w.number(int64(len(required)))
	for i := range required {
		w.podTerm(&required[i], own)
	}
	w.number(int64(len(preferred)))
	for i := range preferred {
		w.number(int64(preferred[i].Weight))
		w.podTerm(&preferred[i].PodAffinityTerm, own)
	}
}

func (w *keyWriter) podTerm(t *corev1.PodAffinityTerm, own map[string]string) {
	w.text(t.TopologyKey)
	w.texts(t.Namespaces)
	w.selector(t.NamespaceSelector)
	w.selector(t.LabelSelector)
	w.valuesOf(t.MatchLabelKeys, own)
	w.valuesOf(t.MismatchLabelKeys, own)
}

// selector writes a selector; one that is absent differs from one that is empty.
func (w *keyWriter) selector(s *metav1.LabelSelector) {
	if s == nil {
		w.number(-1)
		return
	}
	w.labels(s.MatchLabels)
	w.number(int64(len(s.MatchExpressions)))
	for i := range s.MatchExpressions {
		w.text(s.MatchExpressions[i].Key)
		w.text(string(s.MatchExpressions[i].Operator))
		w.texts(s.MatchExpressions[i].Values)
	}
}

// valuesOf writes label keys with the values the pod itself has for them.
func (w *keyWriter) valuesOf(keys []string, own map[string]string) {
	w.number(int64(len(keys)))
	for _, key := range keys {
		w.text(key)
		if v, ok := own[key]; ok {
			w.number(1)
			w.text(v)
		} else {
			w.number(0)
		}
	}
}
