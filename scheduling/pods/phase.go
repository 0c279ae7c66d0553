package pods

import (
	"strings"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/internal/podgroups"
)

// Terminal reports whether the pod has ended, successfully or not. Such a pod uses no resources any more.
func Terminal(pod *corev1.Pod) bool {
	if pod == nil {
		return false
	}
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

// Terminating reports whether the pod is being deleted.
func Terminating(pod *corev1.Pod) bool {
	if pod == nil {
		return false
	}
	return pod.DeletionTimestamp != nil
}

// Active reports whether the pod has not ended and is not being deleted.
func Active(pod *corev1.Pod) bool {
	if pod == nil {
		return false
	}
	return !Terminal(pod) && !Terminating(pod)
}

// OwnedByDaemonSet reports whether a DaemonSet owns the pod, so that the pod starts and ends with its node. Every owner reference counts,
// not only the controller's.
func OwnedByDaemonSet(pod *corev1.Pod) bool {
	if pod == nil {
		return false
	}
	return ownedBy(pod, "apps", "DaemonSet")
}

// OwnedByStatefulSet reports whether a StatefulSet owns the pod. A StatefulSet replaces a pod only after it has ended.
func OwnedByStatefulSet(pod *corev1.Pod) bool {
	if pod == nil {
		return false
	}
	return ownedBy(pod, "apps", "StatefulSet")
}

// Static reports whether the pod is the mirror of a pod that the kubelet runs from a file. Its node owns such a pod, or it has the
// annotation by which the kubelet recognizes it.
func Static(pod *corev1.Pod) bool {
	if pod == nil {
		return false
	}
	_, mirror := pod.Annotations[corev1.MirrorPodAnnotationKey]
	return mirror || ownedBy(pod, "", "Node")
}

// ownedBy reports whether the pod has an owner of the kind in any version of the API group. For the group apps, it also accepts the old
// group extensions, which had the same kinds before.
func ownedBy(pod *corev1.Pod, group, kind string) bool {
	for i := range pod.OwnerReferences {
		ref := &pod.OwnerReferences[i]
		of, _, grouped := strings.Cut(ref.APIVersion, "/")
		switch {
		case !grouped:
			of = ""
		case of == "extensions":
			of = "apps"
		}
		if ref.Kind == kind && of == group {
			return true
		}
	}
	return false
}

// Ready reports whether the pod's Ready condition is true. A pod without the condition is not ready.
func Ready(pod *corev1.Pod) bool {
	if pod == nil {
		return false
	}
	return condition(pod, corev1.PodReady) == corev1.ConditionTrue
}

func condition(pod *corev1.Pod, kind corev1.PodConditionType) corev1.ConditionStatus {
	for i := range pod.Status.Conditions {
		if pod.Status.Conditions[i].Type == kind {
			return pod.Status.Conditions[i].Status
		}
	}
	return ""
}

// Provisionable reports whether the pod waits for a new node: kube-scheduler found it unschedulable, it is neither bound to nor nominated
// for a node, and it is not tied to one node, as pods of DaemonSets and static pods are. The named scheduler, the phase and a deletion
// timestamp do not matter. A pod with scheduling gates never counts, because no scheduler considers it. A pod for which kube-scheduler
// reports an error does not count either, unless it belongs to a PodGroup: kube-scheduler v1.37 reports an error for such pods if the
// cluster has no nodes.
func Provisionable(pod *corev1.Pod) bool {
	if pod == nil {
		return false
	}
	if pod.Spec.NodeName != "" || pod.Status.NominatedNodeName != "" || OwnedByDaemonSet(pod) || Static(pod) {
		return false
	}
	for i := range pod.Status.Conditions {
		c := &pod.Status.Conditions[i]
		if c.Type == corev1.PodScheduled {
			return c.Reason == corev1.PodReasonUnschedulable || c.Reason == corev1.PodReasonSchedulerError && grouped(pod)
		}
	}
	return false
}

// grouped reports whether the pod belongs to a PodGroup of scheduling.k8s.io.
func grouped(pod *corev1.Pod) bool { return podgroups.NewReader(false).SchedulingGroup(pod) != "" }

// Nominated reports whether kube-scheduler has promised the pod room on a node that it is not bound to yet. Such a pod belongs in
// Snapshot.Pods, where it reserves that room. But such a pod alone is no reason to make a plan.
func Nominated(pod *corev1.Pod) bool {
	if pod == nil {
		return false
	}
	return pod.Spec.NodeName == "" && pod.Status.NominatedNodeName != "" && len(pod.Spec.SchedulingGates) == 0 &&
		Active(pod) && !OwnedByDaemonSet(pod) && !Static(pod)
}

// ToleratesDisruption reports whether the pod tolerates the taint of disrupted nodes, karpenter.sh/disrupted:NoSchedule. Such a pod stays
// until its node is terminated.
func ToleratesDisruption(pod *corev1.Pod) bool {
	if pod == nil {
		return false
	}
	return ToleratesMarker(pod, v1.MarkerTaint)
}

// ToleratesMarker is ToleratesDisruption for a node with the given marker. Nodes of pools created as v1alpha5 are cordoned instead of
// tainted, and pods of DaemonSets tolerate a cordon.
func ToleratesMarker(pod *corev1.Pod, marker v1.DisruptionMarker) bool {
	if pod == nil {
		return false
	}
	taint := marker.Taint() // the taint has no value
	for i := range pod.Spec.Tolerations {
		t := &pod.Spec.Tolerations[i]
		exists := t.Operator == corev1.TolerationOpExists
		equal := t.Operator == "" || t.Operator == corev1.TolerationOpEqual
		key := t.Key == taint.Key || t.Key == "" && exists
		effect := t.Effect == "" || t.Effect == taint.Effect
		if key && effect && (exists || equal && t.Value == "") {
			return true
		}
	}
	return false
}
