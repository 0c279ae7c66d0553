package runtimes

import (
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
)

// The label that has most values names reservations, if it differs between those that end and all others; else no reserved node is left.
func TestWithout(t *testing.T) {
	of := func(hours int, labels ...string) reservation {
		r := reservation{labels: map[string]string{}, ends: time.Unix(0, 0).Add(time.Duration(hours) * time.Hour)}
		for i := 0; i < len(labels); i += 2 {
			r.labels[labels[i]] = labels[i+1]
		}
		return r
	}
	for name, c := range map[string]struct {
		m      market
		short  int
		key    string
		values []string
	}{
		"the ID": {market{ends: []reservation{of(1, "id", "a", "kind", "block"), of(2, "id", "b", "kind", "block")}, others: []reservation{of(0, "id", "c", "kind", "default")}}, 1, "id", []string{"a"}},
		"all that end, by the ID, although the kind would do": {
			market{ends: []reservation{of(1, "id", "a", "kind", "block"), of(2, "id", "b", "kind", "block")}, others: []reservation{of(0, "id", "c", "kind", "default")}}, 2, "id", []string{"a", "b"},
		},
		"by another label where the ID is missing": {market{ends: []reservation{of(1, "kind", "block")}, others: []reservation{of(0, "id", "c", "kind", "default")}}, 1, "kind", []string{"block"}},
		"no label differs":                         {market{ends: []reservation{of(1, "kind", "block")}, others: []reservation{of(0, "kind", "block")}}, 1, v1.CapacityTypeLabelKey, []string{v1.CapacityTypeReserved}},
		"no label at all":                          {market{ends: []reservation{of(1)}}, 1, v1.CapacityTypeLabelKey, []string{v1.CapacityTypeReserved}},
	} {
		t.Run(name, func(t *testing.T) {
			got := c.m.without(c.m.ends[:c.short])
			if got.Key != c.key || got.Operator != corev1.NodeSelectorOpNotIn || !slices.Equal(got.Values, c.values) {
				t.Errorf("%+v, want %s not in %v", got, c.key, c.values)
			}
		})
	}
}

// The requirement joins each alternative of the pod, and the pod itself stays as it is.
func TestWith(t *testing.T) {
	r := corev1.NodeSelectorRequirement{Key: "id", Operator: corev1.NodeSelectorOpNotIn, Values: []string{"a"}}
	own := corev1.NodeSelectorRequirement{Key: "disk", Operator: corev1.NodeSelectorOpExists}
	pod := &corev1.Pod{Spec: corev1.PodSpec{Affinity: &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
		RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{
			{MatchExpressions: []corev1.NodeSelectorRequirement{own}}, {}, // which matches no node
		}},
	}}}}
	got := with(pod, r).Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
	if len(got) != 1 || len(got[0].MatchExpressions) != 2 || got[0].MatchExpressions[1].Key != "id" {
		t.Errorf("%+v", got)
	}
	if terms := pod.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms; len(terms) != 2 || len(terms[0].MatchExpressions) != 1 {
		t.Errorf("the pod itself has changed: %+v", terms)
	}
	if terms := with(&corev1.Pod{}, r).Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms; len(terms) != 1 || len(terms[0].MatchExpressions) != 1 {
		t.Errorf("%+v", terms)
	}
}
