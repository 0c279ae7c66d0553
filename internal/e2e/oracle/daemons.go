package oracle

import (
	"maps"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1helpers "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	"k8s.io/klog/v2"
)

// daemonPods returns the pods that the DaemonSet controller would create for the node. There is one pod for each DaemonSet that tolerates
// the node's taints, and that has a selector and a required affinity that match the node's labels.
func daemonPods(sets []*appsv1.DaemonSet, node *corev1.Node) []*corev1.Pod {
	var out []*corev1.Pod
	for _, set := range sets {
		pod := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: set.Namespace, Name: set.Name + "-" + node.Name, Labels: maps.Clone(set.Spec.Template.Labels),
				OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "DaemonSet", Name: set.Name, UID: set.UID}},
			},
			Spec: *set.Spec.Template.Spec.DeepCopy(),
		}
		for i := range pod.Spec.Containers {
			defaultRequests(&pod.Spec.Containers[i].Resources)
		}
		for i := range pod.Spec.InitContainers {
			defaultRequests(&pod.Spec.InitContainers[i].Resources)
		}
		matches, err := nodeaffinity.GetRequiredNodeAffinity(pod).Match(node)
		if err != nil || !matches {
			continue
		}
		if _, untolerated := corev1helpers.FindMatchingUntoleratedTaint(klog.Logger{}, node.Spec.Taints, append(pod.Spec.Tolerations, daemonTolerations()...), hard, true); untolerated {
			continue
		}
		out = append(out, pod)
	}
	return out
}

// hard reports whether the taint keeps away pods that don't tolerate it.
func hard(t *corev1.Taint) bool { return t.Effect != corev1.TaintEffectPreferNoSchedule }

// daemonTolerations returns the tolerations that the DaemonSet controller adds to each of its pods.
func daemonTolerations() []corev1.Toleration {
	out := []corev1.Toleration{}
	add := func(key string, effect corev1.TaintEffect) {
		out = append(out, corev1.Toleration{Key: key, Operator: corev1.TolerationOpExists, Effect: effect})
	}
	add(corev1.TaintNodeNotReady, corev1.TaintEffectNoExecute)
	add(corev1.TaintNodeUnreachable, corev1.TaintEffectNoExecute)
	add(corev1.TaintNodeDiskPressure, corev1.TaintEffectNoSchedule)
	add(corev1.TaintNodeMemoryPressure, corev1.TaintEffectNoSchedule)
	add(corev1.TaintNodePIDPressure, corev1.TaintEffectNoSchedule)
	add(corev1.TaintNodeUnschedulable, corev1.TaintEffectNoSchedule)
	return out
}

// defaultRequests sets missing requests to the limits, as the API server does.
func defaultRequests(r *corev1.ResourceRequirements) {
	for name, quantity := range r.Limits {
		if _, ok := r.Requests[name]; ok {
			continue
		}
		if r.Requests == nil {
			r.Requests = corev1.ResourceList{}
		}
		r.Requests[name] = quantity
	}
}
