package spotshares

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
)

// offSpot returns the alternatives for nodes that are not spot nodes: nodes with another known capacity type, and nodes without a NodePool.
// A node whose capacity type is not decided could still become a spot node.
func offSpot() []corev1.NodeSelectorTerm {
	return []corev1.NodeSelectorTerm{
		{MatchExpressions: []corev1.NodeSelectorRequirement{
			{Key: v1.CapacityTypeLabelKey, Operator: corev1.NodeSelectorOpExists},
			{Key: v1.CapacityTypeLabelKey, Operator: corev1.NodeSelectorOpNotIn, Values: []string{v1.CapacityTypeSpot}},
		}},
		{MatchExpressions: []corev1.NodeSelectorRequirement{
			{Key: v1.CapacityTypeLabelKey, Operator: corev1.NodeSelectorOpDoesNotExist},
			{Key: v1.NodePoolLabelKey, Operator: corev1.NodeSelectorOpDoesNotExist},
		}},
	}
}

// onPools returns the alternatives for spot nodes of the pools, which must be sorted. Zones with the same instance types are in one
// alternative.
func onPools(pools []Pool) []corev1.NodeSelectorTerm {
	var zones []string
	types := map[string][]string{}
	for _, p := range pools {
		if types[p.Zone] == nil {
			zones = append(zones, p.Zone)
		}
		types[p.Zone] = append(types[p.Zone], p.InstanceType)
	}
	slices.Sort(zones)
	var out []corev1.NodeSelectorTerm
	for i, zone := range zones {
		same := func(other string) bool { return slices.Equal(types[other], types[zone]) }
		if slices.ContainsFunc(zones[:i], same) {
			continue
		}
		in := func(key string, values ...string) corev1.NodeSelectorRequirement {
			return corev1.NodeSelectorRequirement{Key: key, Operator: corev1.NodeSelectorOpIn, Values: values}
		}
		alike := slices.DeleteFunc(slices.Clone(zones[i:]), func(other string) bool { return !same(other) })
		out = append(out, corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{
			in(v1.CapacityTypeLabelKey, v1.CapacityTypeSpot), in(corev1.LabelTopologyZone, alike...), in(corev1.LabelInstanceTypeStable, types[zone]...),
		}})
	}
	return out
}

// narrowed returns a copy of the pod that also requires a node which matches one of the alternatives. The pod itself does not change.
func narrowed(pod *corev1.Pod, alternatives []corev1.NodeSelectorTerm) *corev1.Pod {
	out := *pod
	affinity, node := corev1.Affinity{}, corev1.NodeAffinity{}
	if pod.Spec.Affinity != nil {
		affinity = *pod.Spec.Affinity
	}
	if affinity.NodeAffinity != nil {
		node = *affinity.NodeAffinity
	}
	terms := alternatives
	if required := node.RequiredDuringSchedulingIgnoredDuringExecution; required != nil {
		terms = nil
		for _, own := range required.NodeSelectorTerms {
			if len(own.MatchExpressions)+len(own.MatchFields) == 0 {
				continue // such a term matches no node
			}
			for _, other := range alternatives {
				terms = append(terms, corev1.NodeSelectorTerm{
					MatchExpressions: slices.Concat(own.MatchExpressions, other.MatchExpressions), MatchFields: own.MatchFields,
				})
			}
		}
	}
	node.RequiredDuringSchedulingIgnoredDuringExecution = &corev1.NodeSelector{NodeSelectorTerms: terms}
	affinity.NodeAffinity = &node
	out.Spec.Affinity = &affinity
	return &out
}
