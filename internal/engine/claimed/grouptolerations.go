package claimed

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// Tolerations are those of the pod or, if others follow it, those that all of them have: it may only go where all may be.
func (x *Index) Tolerations(pod *corev1.Pod) []corev1.Toleration {
	if x.Claims != nil {
		if g := x.Claims.Groups[pod]; g != nil && g.leads(pod) {
			return g.tolerations()
		}
	}
	return pod.Spec.Tolerations
}

// tolerations tolerate what each pod of the group tolerates, and nothing else.
func (g *deviceGroup) tolerations() []corev1.Toleration {
	all := g.pods[0].Spec.Tolerations
	for _, pod := range g.pods[1:] {
		if !slices.EqualFunc(all, pod.Spec.Tolerations, sameToleration) {
			all = commonTolerations(all, pod.Spec.Tolerations)
		}
	}
	return all
}

// commonTolerations tolerate what both lists do: each of one with each of the other, as far as there are taints for both.
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

// commonToleration tolerates what both do; false if there is no such taint, or no toleration for it.
func commonToleration(a, b *corev1.Toleration) (corev1.Toleration, bool) {
	if sameToleration(*a, *b) {
		return *a, true
	}
	if a.Key != "" && b.Key != "" && a.Key != b.Key || a.Effect != "" && b.Effect != "" && a.Effect != b.Effect {
		return corev1.Toleration{}, false
	}
	both := *a
	if both.Operator == corev1.TolerationOpExists { // of any value: what the other says of it
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

// sameValue reports whether both ask the same of the value. Comparisons with different numbers are not joined.
func sameValue(a, b *corev1.Toleration) bool {
	operator := func(t *corev1.Toleration) corev1.TolerationOperator {
		if t.Operator == "" {
			return corev1.TolerationOpEqual
		}
		return t.Operator
	}
	return operator(a) == operator(b) && a.Value == b.Value
}

// sameToleration reports whether both tolerate the same, however long.
func sameToleration(a, b corev1.Toleration) bool {
	return a.Key == b.Key && a.Effect == b.Effect && sameValue(&a, &b)
}
