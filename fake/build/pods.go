package build

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Pod returns a pod with one container, in the namespace default, without a node.
func Pod(name string, options ...PodOption) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: name}}
	pod.Spec.Containers = []corev1.Container{{Name: "main"}}
	for _, option := range options {
		if option != nil {
			option.toPod(pod)
		}
	}
	return pod
}

// Pods returns n pods that differ only in their names: "web-0", "web-1". n is at most 100,000; a negative n counts as 0.
func Pods(name string, n int, options ...PodOption) []*corev1.Pod {
	const most = 100_000
	list := make([]*corev1.Pod, 0, min(max(n, 0), most))
	for i := range cap(list) {
		list = append(list, Pod(fmt.Sprintf("%s-%d", name, i), options...))
	}
	return list
}

// Namespace sets the namespace, which is "default" without this option.
func Namespace(name string) PodFunc { return func(p *corev1.Pod) { p.Namespace = name } }

// On sets the node on which the pod runs.
func On(node string) PodFunc {
	return func(p *corev1.Pod) {
		p.Spec.NodeName = node
		p.Status.Phase = corev1.PodRunning
	}
}

// Unschedulable sets the condition with which kube-scheduler says that it has found no place for the pod.
func Unschedulable() PodFunc {
	return func(p *corev1.Pod) {
		p.Status = corev1.PodStatus{Phase: corev1.PodPending, Conditions: []corev1.PodCondition{{
			Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable,
		}}}
	}
}

// Selector sets the pod's node selector, given as pairs: key, value, key, value.
func Selector(pairs ...string) PodFunc {
	return func(p *corev1.Pod) { p.Spec.NodeSelector = merge(p.Spec.NodeSelector, pairs) }
}

// Tolerates adds tolerations for taints, in the form of Taints. If the value is missing, the toleration matches every value; if the effect
// is missing, it matches every effect.
func Tolerates(taints ...string) PodFunc {
	return func(p *corev1.Pod) {
		for _, text := range taints {
			p.Spec.Tolerations = append(p.Spec.Tolerations, toleration(text))
		}
	}
}

// Spread adds a topology spread constraint with DoNotSchedule. maxSkew is the largest difference between domains in the number of pods with
// these labels (key, value, …).
func Spread(topologyKey string, maxSkew int32, labels ...string) PodFunc {
	return func(p *corev1.Pod) {
		p.Spec.TopologySpreadConstraints = append(p.Spec.TopologySpreadConstraints, corev1.TopologySpreadConstraint{
			TopologyKey: topologyKey, MaxSkew: maxSkew, WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: selecting(labels),
		})
	}
}

// Apart adds required anti-affinity: the pod must not be in a domain of the topology that has a pod with these labels (key, value, …).
func Apart(topologyKey string, labels ...string) PodFunc {
	return func(p *corev1.Pod) {
		affinity := affinityOf(p)
		if affinity.PodAntiAffinity == nil {
			affinity.PodAntiAffinity = &corev1.PodAntiAffinity{}
		}
		terms := &affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution
		*terms = append(*terms, corev1.PodAffinityTerm{TopologyKey: topologyKey, LabelSelector: selecting(labels)})
	}
}

// Together adds required affinity: the pod must be in a domain of the topology that has a pod with these labels (key, value, …).
func Together(topologyKey string, labels ...string) PodFunc {
	return func(p *corev1.Pod) {
		affinity := affinityOf(p)
		if affinity.PodAffinity == nil {
			affinity.PodAffinity = &corev1.PodAffinity{}
		}
		terms := &affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution
		*terms = append(*terms, corev1.PodAffinityTerm{TopologyKey: topologyKey, LabelSelector: selecting(labels)})
	}
}

// Priority sets the pod's priority as a number.
func Priority(n int32) PodFunc { return func(p *corev1.Pod) { p.Spec.Priority = &n } }

func affinityOf(p *corev1.Pod) *corev1.Affinity {
	if p.Spec.Affinity == nil {
		p.Spec.Affinity = &corev1.Affinity{}
	}
	return p.Spec.Affinity
}

func selecting(labels []string) *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: merge(nil, labels)}
}
