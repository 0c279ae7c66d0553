package planvalidator

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/scheduling"
)

// withSpotSplits returns the snapshot with pods that require the nodes that the plan's splits leave to them. It maps these pods to the
// given ones.
func withSpotSplits(s *scheduling.Snapshot, p *scheduling.Plan) (*scheduling.Snapshot, map[*corev1.Pod]*corev1.Pod) {
	itself := map[*corev1.Pod]*corev1.Pod{}
	asks := map[scheduling.PodKey][]corev1.NodeSelectorTerm{}
	off := []corev1.NodeSelectorTerm{
		allOf(asked(v1.CapacityTypeLabelKey, corev1.NodeSelectorOpExists), asked(v1.CapacityTypeLabelKey, corev1.NodeSelectorOpNotIn, "spot")),
		allOf(asked(v1.CapacityTypeLabelKey, corev1.NodeSelectorOpDoesNotExist), asked(v1.NodePoolLabelKey, corev1.NodeSelectorOpDoesNotExist)),
	}
	for i := range p.SpotSplits {
		split := &p.SpotSplits[i]
		for _, key := range split.OffSpot {
			asks[key] = off
		}
		for _, part := range split.Parts {
			if part.Any {
				continue
			}
			terms := append([]corev1.NodeSelectorTerm(nil), off...)
			for _, pools := range part.Pools {
				terms = append(terms, allOf(asked(v1.CapacityTypeLabelKey, corev1.NodeSelectorOpIn, "spot"), asked(corev1.LabelTopologyZone, corev1.NodeSelectorOpIn, pools.Zone),
					asked(corev1.LabelInstanceTypeStable, corev1.NodeSelectorOpIn, pools.InstanceTypes...)))
			}
			for _, key := range part.Pods {
				asks[key] = terms
			}
		}
	}
	if len(asks) == 0 {
		return s, itself
	}
	out := *s
	out.Pods = nil
	for _, pod := range s.Pods {
		if terms := asks[scheduling.PodKey{Namespace: pod.Namespace, Name: pod.Name}]; terms != nil {
			copied := pod.DeepCopy()
			require(&copied.Spec, terms)
			itself[copied] = pod
			pod = copied
		}
		out.Pods = append(out.Pods, pod)
	}
	return &out, itself
}

// allOf returns an alternative that asks for all expressions, each a label, an operator and values.
func allOf(expressions ...corev1.NodeSelectorRequirement) corev1.NodeSelectorTerm {
	return corev1.NodeSelectorTerm{MatchExpressions: expressions}
}

func asked(key string, op corev1.NodeSelectorOperator, values ...string) corev1.NodeSelectorRequirement {
	return corev1.NodeSelectorRequirement{Key: key, Operator: op, Values: values}
}

// require combines each alternative of the pod with one of the given alternatives.
func require(spec *corev1.PodSpec, alternatives []corev1.NodeSelectorTerm) {
	if spec.Affinity == nil {
		spec.Affinity = &corev1.Affinity{}
	}
	if spec.Affinity.NodeAffinity == nil {
		spec.Affinity.NodeAffinity = &corev1.NodeAffinity{}
	}
	own := spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	if own == nil {
		own = &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{}}}
	} else {
		own.NodeSelectorTerms = slices.DeleteFunc(own.NodeSelectorTerms, func(t corev1.NodeSelectorTerm) bool { return len(t.MatchExpressions)+len(t.MatchFields) == 0 })
	}
	both := &corev1.NodeSelector{}
	for _, a := range own.NodeSelectorTerms {
		for _, b := range alternatives {
			both.NodeSelectorTerms = append(both.NodeSelectorTerms, corev1.NodeSelectorTerm{
				MatchFields: a.MatchFields, MatchExpressions: slices.Concat(a.MatchExpressions, b.MatchExpressions),
			})
		}
	}
	spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution = both
}
