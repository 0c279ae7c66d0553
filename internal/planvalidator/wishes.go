package planvalidator

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/scheduling"
)

// wished returns the alternatives unchanged, and combined with each of the pod's preferred terms that asks for a label by which rules
// between pods group nodes. Pool and instance type may leave the value of such a label open. A new node that keeps the preference then has
// its own value, so it can be a place that the pod would not have without the preference, for example because others keep away from the pod
// by that label. The planner gives up preferences before it puts pods on nodes of a pool that they tolerate only reluctantly, so such nodes
// give no places here.
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

// unwelcome reports whether a PreferNoSchedule taint of the node applies to the pod.
func unwelcome(spec *corev1.PodSpec, taints []corev1.Taint) bool {
	return slices.ContainsFunc(taints, func(t corev1.Taint) bool {
		return t.Effect == corev1.TaintEffectPreferNoSchedule &&
			!slices.ContainsFunc(spec.Tolerations, func(x corev1.Toleration) bool { return tolerated(x, &t) })
	})
}
