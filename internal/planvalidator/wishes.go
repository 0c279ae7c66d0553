package planvalidator

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/scheduling"
)

// wished returns the alternatives, as they are and with each of the pod's preferred terms that asks for a label by which rules between pods
// group nodes. Where pool and instance type leave the label's value open, a new node that keeps the wish has a value of its own, and so is
// a place that the pod has not without the wish: where others keep away from it by that label, say. Wishes are given up before pods go to a
// pool that would rather not have them, and so make no places there.
func (c *checker) wished(pod *corev1.Pod, np *scheduling.NodePool, alternatives [][]expression) [][]expression {
	a := pod.Spec.Affinity
	if a == nil || a.NodeAffinity == nil || unwelcome(&pod.Spec, np.Object.Spec.Template.Spec.Taints) {
		return alternatives
	}
	out := slices.Clone(alternatives)
	keys := c.topologyKeys()
	for _, p := range a.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution {
		var all []expression
		for _, e := range p.Preference.MatchExpressions {
			all = append(all, c.expression(e.Key, e.Operator, e.Values))
		}
		if !slices.ContainsFunc(all, func(e expression) bool { return keys[e.key] }) {
			continue
		}
		for _, x := range alternatives {
			out = append(out, slices.Concat(x, all))
		}
	}
	return out
}

// unwelcome reports whether a PreferNoSchedule taint speaks against the pod.
func unwelcome(spec *corev1.PodSpec, taints []corev1.Taint) bool {
	return slices.ContainsFunc(taints, func(t corev1.Taint) bool {
		return t.Effect == corev1.TaintEffectPreferNoSchedule &&
			!slices.ContainsFunc(spec.Tolerations, func(x corev1.Toleration) bool { return tolerated(x, &t) })
	})
}
