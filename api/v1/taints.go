package v1

import corev1 "k8s.io/api/core/v1"

// UnregisteredTaint returns the taint that a node boots with and loses once its labels and taints were synced.
func UnregisteredTaint() corev1.Taint {
	return corev1.Taint{Key: UnregisteredTaintKey, Effect: corev1.TaintEffectNoExecute}
}

// DisruptedTaint returns the taint of a node that is leaving.
func DisruptedTaint() corev1.Taint {
	return corev1.Taint{Key: DisruptedTaintKey, Effect: corev1.TaintEffectNoSchedule}
}
