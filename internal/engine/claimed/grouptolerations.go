package claimed

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// Tolerations returns the pod's tolerations. If the pod leads a group, it returns the tolerations that all pods of the group have in
// common.
func (x *Index) Tolerations(pod *corev1.Pod) []corev1.Toleration {
	if x.Claims != nil {
		if g := x.Claims.Groups[pod]; g != nil && g.leads(pod) {
			return g.tolerations()
		}
	}
	return pod.Spec.Tolerations
}

// tolerations returns tolerations for exactly the taints that every pod of the group tolerates.
func (g *deviceGroup) tolerations() []corev1.Toleration {
	all := g.pods[0].Spec.Tolerations
	for _, pod := range g.pods[1:] {
		if !slices.EqualFunc(all, pod.Spec.Tolerations, sameToleration) {
			all = commonTolerations(all, pod.Spec.Tolerations)
		}
	}
	return all
}

// commonTolerations returns tolerations for the taints that both lists tolerate. It combines each toleration of one list with each
// toleration of the other list if a taint can match both tolerations.
func commonTolerations(a, b []corev1.Toleration) []corev1.Toleration {
	var out []corev1.Toleration
	for i := range a {
		for j := range b {
			if both, ok := commonToleration(&a[i], &b[j]); ok && !slices.ContainsFunc(out, func(t corev1.Toleration) bool { return sameToleration(t, both) }) {
				out = append(out, both)
			}
		}
	}
	return out
}

// commonToleration returns a toleration for the taints that both a and b tolerate. It returns false if no taint can match both tolerations,
// or if no single toleration can express the result.
func commonToleration(a, b *corev1.Toleration) (corev1.Toleration, bool) {
	if sameToleration(*a, *b) {
		return *a, true
	}
	if a.Key != "" && b.Key != "" && a.Key != b.Key || a.Effect != "" && b.Effect != "" && a.Effect != b.Effect {
		return corev1.Toleration{}, false
	}
	both := *a
	if both.Operator == corev1.TolerationOpExists { // the first toleration (a) tolerates any value, so use the condition of the second (b)
		both.Operator, both.Value = b.Operator, b.Value
	} else if b.Operator != corev1.TolerationOpExists && !sameValue(a, b) {
		return corev1.Toleration{}, false
	}
	if both.Key == "" {
		both.Key = b.Key
	}
	if both.Effect == "" {
		both.Effect = b.Effect
	}
	return both, true
}

// sameValue reports whether both tolerations have the same condition on the value. It returns false for comparisons with different numbers,
// even if one implies the other.
func sameValue(a, b *corev1.Toleration) bool {
	operator := func(t *corev1.Toleration) corev1.TolerationOperator {
		if t.Operator == "" {
			return corev1.TolerationOpEqual
		}
		return t.Operator
	}
	return operator(a) == operator(b) && a.Value == b.Value
}

// sameToleration reports whether both tolerations tolerate the same taints. It ignores tolerationSeconds.
func sameToleration(a, b corev1.Toleration) bool {
	return a.Key == b.Key && a.Effect == b.Effect && sameValue(&a, &b)
}
