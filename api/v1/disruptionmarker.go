package v1

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// CordonedAnnotationKey is "true" on a node whose cordon marks it as being disrupted, so that it can be told from a cordon
// that somebody else put on the node, and is the only one to be taken off again.
const CordonedAnnotationKey = "drawknife.dev/cordoned"

// betaDisruptionTaint is what releases of v1beta1 put on a node that was being disrupted.
func betaDisruptionTaint() corev1.Taint {
	return corev1.Taint{Key: "karpenter.sh/disruption", Value: "disrupting", Effect: corev1.TaintEffectNoSchedule}
}

// DisruptionMarker is what keeps new pods off a node that is being disrupted, and shows that it is. The zero value is
// MarkerTaint.
type DisruptionMarker string

// The markers that are written. A third, the taint of v1beta1, is recognised (see DisruptionMarked) and taken off.
const (
	// MarkerTaint is DisruptedTaint: on nodes of pools of v1 and v1beta1.
	MarkerTaint DisruptionMarker = "taint"
	// MarkerCordon is spec.unschedulable: on nodes of pools that were born in the first generation. Whatever looks after such
	// a cluster expects it, and pods of DaemonSets tolerate it, so that they stay until the node is gone.
	MarkerCordon DisruptionMarker = "cordon"
)

// MarkerOf is how nodes of the pool are marked.
func MarkerOf(pool PoolKey) DisruptionMarker {
	if pool.Generation == GenerationV1Alpha5 {
		return MarkerCordon
	}
	return MarkerTaint
}

// Taint is what a pod has to tolerate in order to stay on a node so marked: DisruptedTaint, or the one that Kubernetes puts
// on a cordoned node.
func (m DisruptionMarker) Taint() corev1.Taint {
	if m == MarkerCordon {
		return corev1.Taint{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule}
	}
	return DisruptedTaint()
}

// On reports whether the marker keeps pods off the node. Any cordon does, whosever it is.
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

// Mark puts the marker on the node and reports whether that changed it. A node that is cordoned already is left as it is, so
// that somebody else's cordon stays theirs; another effect under the key of DisruptedTaint gives way to it.
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

// DisruptionMarked reports whether the node bears a marker of any generation: the taint of v1, that of v1beta1, or a cordon
// that Mark put on it. A cordon of somebody else is none.
func DisruptionMarked(node *corev1.Node) bool {
	if node == nil {
		return false
	}
	return DisruptionTainted(node) || DisruptionCordoned(node)
}

// DisruptionTainted reports whether the node bears the taint of v1 or that of v1beta1.
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

// TakeTaintOff takes the taints of DisruptionTainted off the node and reports whether there were any.
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

// TakeCordonOff undoes what Mark did to a node that it cordoned and reports whether it did. Kubernetes takes off the taint
// that goes with the cordon.
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
