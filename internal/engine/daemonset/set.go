package daemonset

import (
	"cmp"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/drawknife/drawknife/api/requirements"
	"github.com/drawknife/drawknife/internal/engine/match"
)

// Set is a DaemonSet with its representative pod.
type Set struct {
	Object      *appsv1.DaemonSet
	Sample      *corev1.Pod
	Class       int32
	Requests    []int64
	Tolerations []corev1.Toleration
	// Terms are the alternatives of the pod's node selector and required node affinity. Preferences are ignored.
	Terms []match.Needs
}

// Representative returns the newest pod of the set, or a pod made from the template if the set has no pod. The result has the template's
// required node affinity, because the affinity of an existing pod selects only the pod's own node.
func Representative(set *appsv1.DaemonSet, newest map[types.UID]*corev1.Pod) *corev1.Pod {
	template := &set.Spec.Template
	if pod := newest[set.UID]; pod != nil && set.UID != "" {
		pod = pod.DeepCopy()
		if pod.Spec.Affinity != nil {
			pod.Spec.Affinity.NodeAffinity = nil
		}
		if t := template.Spec.Affinity; t != nil && t.NodeAffinity != nil {
			if pod.Spec.Affinity == nil {
				pod.Spec.Affinity = &corev1.Affinity{}
			}
			pod.Spec.Affinity.NodeAffinity = t.NodeAffinity.DeepCopy()
		}
		pod.Spec.NodeName = ""
		pod.Spec.Tolerations = append(pod.Spec.Tolerations, controllerTolerations(&pod.Spec)...)
		return pod
	}
	pod := &corev1.Pod{Spec: *template.Spec.DeepCopy()}
	pod.Spec.Tolerations = append(pod.Spec.Tolerations, controllerTolerations(&template.Spec)...)
	pod.Namespace, pod.Labels = set.Namespace, template.Labels
	for _, list := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range list {
			limitsToRequests(&list[i].Resources)
		}
	}
	return pod
}

// controllerTolerations returns the tolerations that the DaemonSet controller adds to each of its pods. With these tolerations the pods,
// unlike ordinary pods, also run on nodes that are cordoned or have problems.
func controllerTolerations(spec *corev1.PodSpec) []corev1.Toleration {
	taints := []corev1.Taint{
		{Key: corev1.TaintNodeNotReady, Effect: corev1.TaintEffectNoExecute},
		{Key: corev1.TaintNodeUnreachable, Effect: corev1.TaintEffectNoExecute},
		{Key: corev1.TaintNodeDiskPressure, Effect: corev1.TaintEffectNoSchedule},
		{Key: corev1.TaintNodeMemoryPressure, Effect: corev1.TaintEffectNoSchedule},
		{Key: corev1.TaintNodePIDPressure, Effect: corev1.TaintEffectNoSchedule},
		{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule},
	}
	if spec.HostNetwork {
		taints = append(taints, corev1.Taint{Key: corev1.TaintNodeNetworkUnavailable, Effect: corev1.TaintEffectNoSchedule})
	}
	out := make([]corev1.Toleration, len(taints))
	for i, t := range taints {
		out[i] = corev1.Toleration{Key: t.Key, Operator: corev1.TolerationOpExists, Effect: t.Effect}
	}
	return out
}

// limitsToRequests copies limits to missing requests, as the API server does for pods.
func limitsToRequests(r *corev1.ResourceRequirements) {
	for name, q := range r.Limits {
		if _, ok := r.Requests[name]; !ok {
			if r.Requests == nil {
				r.Requests = corev1.ResourceList{}
			}
			r.Requests[name] = q.DeepCopy()
		}
	}
}

// BelongsOn reports whether the DaemonSet has a pod on nodes with these labels and taints.
func (d *Set) BelongsOn(labels requirements.Set, taints []corev1.Taint) bool {
	return match.Untolerated(d.Tolerations, taints, true) == nil && match.AnyMetBy(d.Terms, labels)
}

// Standing returns the DaemonSet pods of a node from which the future pods of their DaemonSets can be predicted. It omits pods that are
// being deleted, because their DaemonSet may have changed since they were created.
func Standing(pods []*corev1.Pod) []*corev1.Pod {
	var out []*corev1.Pod
	for _, pod := range pods {
		if _, ok := match.DaemonOwner(pod); ok && pod.DeletionTimestamp == nil {
			out = append(out, pod)
		}
	}
	return out
}

// Newest returns the newest pod of each DaemonSet, by the DaemonSet's UID. Existing pods are used because admission may have changed them.
// All pods in the lists must belong to DaemonSets.
func Newest(lists [][]*corev1.Pod) map[types.UID]*corev1.Pod {
	out := map[types.UID]*corev1.Pod{}
	for _, pods := range lists {
		for _, pod := range pods {
			uid, _ := match.DaemonOwner(pod)
			have := out[uid]
			if have == nil || cmp.Or(pod.CreationTimestamp.Compare(have.CreationTimestamp.Time), cmp.Compare(pod.Name, have.Name)) > 0 {
				out[uid] = pod
			}
		}
	}
	return out
}
