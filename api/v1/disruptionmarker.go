package v1

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// CordonedAnnotationKey is "true" on a node that was cordoned because it is being disrupted. The annotation distinguishes this cordon from
// a cordon set by somebody else, which must not be removed.
const CordonedAnnotationKey = "drawknife.dev/cordoned"

// betaDisruptionTaint is the taint that v1beta1 releases put on a node being disrupted.
func betaDisruptionTaint() corev1.Taint {
	return corev1.Taint{Key: "karpenter.sh/disruption", Value: "disrupting", Effect: corev1.TaintEffectNoSchedule}
}

// DisruptionMarker marks a node as being disrupted and keeps new pods away from it. The zero value is MarkerTaint.
type DisruptionMarker string

// The markers that Mark puts on nodes. A third marker, the taint of v1beta1, is only recognised (see DisruptionMarked) and removed.
const (
	// MarkerTaint is DisruptedTaint: on nodes of pools of v1 and v1beta1.
	MarkerTaint DisruptionMarker = "taint"
	// MarkerCordon is spec.unschedulable: on nodes of pools created as v1alpha5. Tools in such clusters expect it. DaemonSet pods tolerate
	// the cordon, so they stay until the node is gone.
	MarkerCordon DisruptionMarker = "cordon"
)

// MarkerOf returns the marker for nodes of the pool.
func MarkerOf(pool PoolKey) DisruptionMarker {
	if pool.Generation == GenerationV1Alpha5 {
		return MarkerCordon
	}
	return MarkerTaint
}

// Taint returns the taint that a pod must tolerate to stay on a node with this marker: DisruptedTaint, or the taint that Kubernetes puts
// on a cordoned node.
func (m DisruptionMarker) Taint() corev1.Taint {
	if m == MarkerCordon {
		return corev1.Taint{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule}
	}
	return DisruptedTaint()
}

// On reports whether the node has the marker; for MarkerCordon any cordon counts, no matter who set it.
func (m DisruptionMarker) On(node *corev1.Node) bool {
	if node == nil {
		return false
	}
	if m == MarkerCordon {
		return node.Spec.Unschedulable
	}
	taint := DisruptedTaint()
	return slices.ContainsFunc(node.Spec.Taints, func(t corev1.Taint) bool { return SameTaint(&t, &taint) })
}

// Mark puts the marker on the node and reports whether that changed it. It does not change a node that is already cordoned, because the
// cordon belongs to someone else. A taint with the key of DisruptedTaint and another effect is replaced.
func (m DisruptionMarker) Mark(node *corev1.Node) (changed bool) {
	if node == nil {
		return false
	}
	if m == MarkerCordon {
		if node.Spec.Unschedulable {
			return false
		}
		node.Spec.Unschedulable = true
		if node.Annotations == nil {
			node.Annotations = map[string]string{}
		}
		node.Annotations[CordonedAnnotationKey] = "true"
		return true
	}
	taint := DisruptedTaint()
	rest := slices.DeleteFunc(slices.Clone(node.Spec.Taints), func(t corev1.Taint) bool { return t.Key == taint.Key && t.Effect != taint.Effect })
	marked := MergeTaints(rest, []corev1.Taint{taint})
	changed = len(rest) < len(node.Spec.Taints) || len(marked) > len(rest)
	node.Spec.Taints = marked
	return changed
}

// DisruptionMarked reports whether the node has a marker of any API version: the taint of v1, that of v1beta1, or a cordon set by
// Mark. A cordon set by somebody else does not count.
func DisruptionMarked(node *corev1.Node) bool {
	if node == nil {
		return false
	}
	return DisruptionTainted(node) || DisruptionCordoned(node)
}

// DisruptionTainted reports whether the node has the taint of v1 or that of v1beta1.
func DisruptionTainted(node *corev1.Node) bool {
	if node == nil {
		return false
	}
	return slices.ContainsFunc(node.Spec.Taints, func(t corev1.Taint) bool { return marksDisruption(&t) })
}

// DisruptionCordoned reports whether Mark cordoned the node.
func DisruptionCordoned(node *corev1.Node) bool {
	if node == nil {
		return false
	}
	return node.Annotations[CordonedAnnotationKey] == "true"
}

func marksDisruption(t *corev1.Taint) bool {
	now, beta := DisruptedTaint(), betaDisruptionTaint()
	return SameTaint(t, &now) || SameTaint(t, &beta) && t.Value == beta.Value
}

// TakeTaintOff removes the taints of DisruptionTainted from the node and reports whether there were any.
func TakeTaintOff(node *corev1.Node) (changed bool) {
	if node == nil {
		return false
	}
	if !DisruptionTainted(node) {
		return false
	}
	node.Spec.Taints = slices.DeleteFunc(slices.Clone(node.Spec.Taints), func(t corev1.Taint) bool { return marksDisruption(&t) })
	return true
}

// TakeCordonOff removes a cordon set by Mark and reports whether there was one. Kubernetes removes the cordon's taint.
func TakeCordonOff(node *corev1.Node) (changed bool) {
	if node == nil {
		return false
	}
	if !DisruptionCordoned(node) {
		return false
	}
	node.Spec.Unschedulable = false
	delete(node.Annotations, CordonedAnnotationKey)
	return true
}
