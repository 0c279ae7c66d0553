package v1

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// UnregisteredTaint returns the taint that a node has from boot until its labels and taints are synced.
func UnregisteredTaint() corev1.Taint {
	return corev1.Taint{Key: UnregisteredTaintKey, Effect: corev1.TaintEffectNoExecute}
}

// DisruptedTaint returns the taint of a node that is being disrupted.
func DisruptedTaint() corev1.Taint {
	return corev1.Taint{Key: DisruptedTaintKey, Effect: corev1.TaintEffectNoSchedule}
}

// EphemeralTaint reports whether a node has this taint only while it starts. It recognises the taints for not ready, unreachable,
// uninitialised by the cloud provider and unregistered by key and effect, and any taint under readiness.k8s.io.
func EphemeralTaint(t *corev1.Taint) bool {
	if t == nil {
		return false
	}
	switch t.Key {
	case corev1.TaintNodeNotReady:
		return t.Effect == corev1.TaintEffectNoSchedule || t.Effect == corev1.TaintEffectNoExecute
	case corev1.TaintNodeUnreachable, "node.cloudprovider.kubernetes.io/uninitialized":
		return t.Effect == corev1.TaintEffectNoSchedule
	case UnregisteredTaintKey:
		return t.Effect == corev1.TaintEffectNoExecute
	}
	return strings.HasPrefix(t.Key, "readiness.k8s.io/")
}

// SameTaint reports whether the taints have the same key and effect. Key and effect identify a taint on a node.
func SameTaint(a, b *corev1.Taint) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Key == b.Key && a.Effect == b.Effect
}

// MergeTaints returns the taints plus the taints in more that are missing among them; existing taints stay unchanged. Neither list is
// changed.
func MergeTaints(taints, more []corev1.Taint) []corev1.Taint {
	merged := slices.Clone(taints)
	for i := range more {
		if !slices.ContainsFunc(merged, func(t corev1.Taint) bool { return SameTaint(&t, &more[i]) }) {
			merged = append(merged, more[i])
		}
	}
	return merged
}
