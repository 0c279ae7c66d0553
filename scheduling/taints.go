package scheduling

import (
	"slices"
	"strings"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
)

// untolerated returns the first taint that none of the tolerations matches, by kube-scheduler's rule with the numeric
// operators Gt and Lt (SCH-050). With soft, PreferNoSchedule taints are passed over.
func untolerated(tolerations []corev1.Toleration, taints []corev1.Taint, soft bool) *corev1.Taint {
	for i := range taints {
		taint := &taints[i]
		if soft && taint.Effect == corev1.TaintEffectPreferNoSchedule {
			continue
		}
		if !slices.ContainsFunc(tolerations, func(t corev1.Toleration) bool {
			return t.ToleratesTaint(logr.Discard(), taint, true)
		}) {
			return taint
		}
	}
	return nil
}

// ephemeralTaint reports whether the taint is one that a node carries only while it comes up (SCH-053).
func ephemeralTaint(t *corev1.Taint) bool {
	switch t.Key {
	case corev1.TaintNodeNotReady:
		return t.Effect == corev1.TaintEffectNoSchedule || t.Effect == corev1.TaintEffectNoExecute
	case corev1.TaintNodeUnreachable:
		return t.Effect == corev1.TaintEffectNoSchedule
	case "node.cloudprovider.kubernetes.io/uninitialized":
		return t.Effect == corev1.TaintEffectNoSchedule
	case "karpenter.sh/unregistered":
		return t.Effect == corev1.TaintEffectNoExecute
	}
	return strings.HasPrefix(t.Key, "readiness.k8s.io/")
}

// sameTaint compares key and effect: what identifies a taint on a node (SCH-054).
func sameTaint(a, b *corev1.Taint) bool { return a.Key == b.Key && a.Effect == b.Effect }

// settledTaints drops the ephemeral taints and those that one of startup matches by key and effect: what a node that is
// still coming up will have left (SCH-052).
func settledTaints(taints, startup []corev1.Taint) []corev1.Taint {
	var out []corev1.Taint
next:
	for i := range taints {
		if ephemeralTaint(&taints[i]) {
			continue
		}
		for j := range startup {
			if sameTaint(&taints[i], &startup[j]) {
				continue next
			}
		}
		out = append(out, taints[i])
	}
	return out
}
