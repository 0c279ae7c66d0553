package build

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Pod is a pod of one container, in namespace default, that is on no node.
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

// Pods are n pods that differ in their names alone: "web-0", "web-1". None for n below 1, and no more than 100,000.
func Pods(name string, n int, options ...PodOption) []*corev1.Pod {
	const most = 100_000
	list := make([]*corev1.Pod, 0, min(max(n, 0), most))
	for i := range cap(list) {
		list = append(list, Pod(fmt.Sprintf("%s-%d", name, i), options...))
	}
	return list
}

// Namespace puts the pod into another namespace.
func Namespace(name string) PodFunc { return func(p *corev1.Pod) { p.Namespace = name } }

// On says that the pod runs on that node.
func On(node string) PodFunc {
	return func(p *corev1.Pod) {
		p.Spec.NodeName = node
		p.Status.Phase = corev1.PodRunning
	}
}

// Unschedulable says that kube-scheduler has found no place for the pod.
func Unschedulable() PodFunc {
	return func(p *corev1.Pod) {
		p.Status = corev1.PodStatus{Phase: corev1.PodPending, Conditions: []corev1.PodCondition{{
			Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable,
		}}}
	}
}

// Selector has the pod go to nodes with these labels alone: key, value, key, value.
func Selector(pairs ...string) PodFunc {
	return func(p *corev1.Pod) { p.Spec.NodeSelector = merge(p.Spec.NodeSelector, pairs) }
}

// Tolerates has the pod tolerate taints, written as for Taints. One without a value is tolerated with any, one without an effect with
// every effect.
func Tolerates(taints ...string) PodFunc {
	return func(p *corev1.Pod) {
		for _, text := range taints {
			p.Spec.Tolerations = append(p.Spec.Tolerations, toleration(text))
		}
	}
}

// Spread bounds by how many pods with these labels (key, value, …) the fullest domain of the topology may exceed the emptiest: a
// constraint that must be kept.
func Spread(topologyKey string, maxSkew int32, labels ...string) PodFunc {
	return func(p *corev1.Pod) {
		p.Spec.TopologySpreadConstraints = append(p.Spec.TopologySpreadConstraints, corev1.TopologySpreadConstraint{
			TopologyKey: topologyKey, MaxSkew: maxSkew, WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: selecting(labels),
		})
	}
}

// Apart keeps the pod out of domains of the topology that have a pod with these labels: key, value, key, value.
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

// Together keeps the pod in a domain of the topology that has a pod with these labels: key, value, key, value.
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

// Priority is the pod's priority as a number.
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
