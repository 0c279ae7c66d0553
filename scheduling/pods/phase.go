package pods

import (
	"strings"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/internal/podgroups"
)

// Terminal reports whether the pod has ended, well or badly: it holds no resources any more.
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

// Active reports whether the pod has neither ended nor is being deleted.
func Active(pod *corev1.Pod) bool {
	if pod == nil {
		return false
	}
	return !Terminal(pod) && !Terminating(pod)
}

// OwnedByDaemonSet reports whether a DaemonSet owns the pod: it comes and goes with its node. Any owner reference
// counts, be it the controller's or not.
func OwnedByDaemonSet(pod *corev1.Pod) bool {
	if pod == nil {
		return false
	}
	return ownedBy(pod, "apps", "DaemonSet")
}

// OwnedByStatefulSet reports whether a StatefulSet owns the pod: its successor is made only once it is gone.
func OwnedByStatefulSet(pod *corev1.Pod) bool {
	if pod == nil {
		return false
	}
	return ownedBy(pod, "apps", "StatefulSet")
}

// Static reports whether the pod is the mirror of one that the kubelet runs from a file: its node owns it, or it has the annotation by
// which the kubelet recognizes it.
func Static(pod *corev1.Pod) bool {
	if pod == nil {
		return false
	}
	_, mirror := pod.Annotations[corev1.MirrorPodAnnotationKey]
	return mirror || ownedBy(pod, "", "Node")
}

// ownedBy looks for an owner of the kind in any version of the group. What once was in extensions now is in apps.
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

// Provisionable reports whether the pod waits for a node that is not there: kube-scheduler found it unschedulable, it is
// bound to no node and nominated for none, and it is not tied to one node as pods of DaemonSets and static pods are.
// Which scheduler it names, its phase and whether it is being deleted do not matter; a pod with scheduling gates is not
// looked at by a scheduler and so never counts. Nor does one with which kube-scheduler met an error, unless a PodGroup has the pod:
// of such pods kube-scheduler v1.37 says so where there are no nodes at all.
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

// grouped reports whether the pod is of a PodGroup of scheduling.k8s.io.
func grouped(pod *corev1.Pod) bool { return podgroups.NewReader(false).SchedulingGroup(pod) != "" }

// Nominated reports whether kube-scheduler has promised the pod room on a node that it is not bound to yet. It belongs in
// Snapshot.Pods, where it holds that room, but does not by itself ask for a plan.
func Nominated(pod *corev1.Pod) bool {
	if pod == nil {
		return false
	}
	return pod.Spec.NodeName == "" && pod.Status.NominatedNodeName != "" && len(pod.Spec.SchedulingGates) == 0 &&
		Active(pod) && !OwnedByDaemonSet(pod) && !Static(pod)
}

// ToleratesDisruption reports whether the pod tolerates the taint of nodes that are going away,
// karpenter.sh/disrupted:NoSchedule: it stays until its node is gone.
func ToleratesDisruption(pod *corev1.Pod) bool {
	if pod == nil {
		return false
	}
	return ToleratesMarker(pod, v1.MarkerTaint)
}

// ToleratesMarker is ToleratesDisruption for a node that is so marked: by a cordon, which pods of DaemonSets tolerate, if
// its pool was born in the first generation.
func ToleratesMarker(pod *corev1.Pod, marker v1.DisruptionMarker) bool {
	if pod == nil {
		return false
	}
	taint := marker.Taint() // it has no value
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
