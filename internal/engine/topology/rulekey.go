package topology

import (
	corev1 "k8s.io/api/core/v1"
)

// Reading a pod's rules means parsing selectors, and the pods of one workload have the same rules. Therefore the rules are cached, with the
// text of everything that Collect reads as the key.

// ownedRules is a result of Collect.
type ownedRules struct {
	owns []int32
	err  error
}

// ruleKey returns the text of everything that Collect reads of the pod. It returns false for pods whose rules also depend on host ports,
// volumes that are not created yet, disks that the pods name, shared claims of devices, or the cluster's default spreading (which reads
// Services and owners).
func (x *Index) ruleKey(pod *corev1.Pod) ([]byte, bool) {
	spec := &pod.Spec
	if x.special(pod) || (len(spec.TopologySpreadConstraints) == 0 && x.defaults.any()) {
		return nil, false
	}
	w := &x.writer
	w.Buf = w.Buf[:0]
	w.Text(pod.Namespace)
	w.Number(int64(len(spec.TopologySpreadConstraints)))
	for i := range spec.TopologySpreadConstraints {
		w.Spread(&spec.TopologySpreadConstraints[i], pod.Labels)
	}
	if len(spec.TopologySpreadConstraints) > 0 {
		w.Labels(spec.NodeSelector)
		w.Tolerations(spec.Tolerations)
	}
	a := spec.Affinity
	if a == nil {
		w.Number(-1)
		return w.Buf, true
	}
	if a.NodeAffinity != nil {
		w.Number(1)
		w.NodeAffinity(a.NodeAffinity)
	} else {
		w.Number(0)
	}
	w.PodAffinity(a, pod.Labels)
	return w.Buf, true
}
