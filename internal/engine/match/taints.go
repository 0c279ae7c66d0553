package match

import (
	"slices"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// Untolerated returns the first taint that none of the tolerations matches, by kube-scheduler's rule with the numeric
// operators Gt and Lt. If soft is set, PreferNoSchedule taints are ignored.
func Untolerated(tolerations []corev1.Toleration, taints []corev1.Taint, soft bool) *corev1.Taint {
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

// SettledTaints returns the taints that a starting node will keep: it drops ephemeral taints, and taints that match a taint in startup by
// key and effect.
func SettledTaints(taints, startup []corev1.Taint) []corev1.Taint {
	var out []corev1.Taint
next:
	for i := range taints {
		if v1.EphemeralTaint(&taints[i]) {
			continue
		}
		for j := range startup {
			if v1.SameTaint(&taints[i], &startup[j]) {
				continue next
			}
		}
		out = append(out, taints[i])
	}
	return out
}

// TaintString formats a taint like kubectl: key=value:effect.
func TaintString(t corev1.Taint) string {
	return planning.TaintString(t)
}
