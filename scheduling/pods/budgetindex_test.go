package pods_test

import (
	"fmt"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"pgregory.net/rapid"

	"github.com/drawknife/drawknife/internal/seeded"
	"github.com/drawknife/drawknife/scheduling/pods"
)

// Whatever selectors ask for, the budgets of a pod are those that select it, by name.
func TestBudgetsOfAPodAreThoseThatSelectIt(t *testing.T) {
	seeded.Check(t, func(rt *rapid.T) {
		key := rapid.SampledFrom([]string{"app", "tier", "zone"})
		value := rapid.SampledFrom([]string{"", "a", "b", "c"})
		operator := rapid.SampledFrom([]metav1.LabelSelectorOperator{metav1.LabelSelectorOpIn, metav1.LabelSelectorOpNotIn, metav1.LabelSelectorOpExists, metav1.LabelSelectorOpDoesNotExist})
		var list []*policyv1.PodDisruptionBudget
		for i := range rapid.IntRange(0, 8).Draw(rt, "budgets") {
			pdb := &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: rapid.SampledFrom([]string{"x", "y"}).Draw(rt, "namespace"), Name: fmt.Sprintf("budget-%d", i)}}
			if rapid.IntRange(0, 4).Draw(rt, "selects") > 0 {
				pdb.Spec.Selector = &metav1.LabelSelector{MatchLabels: rapid.MapOfN(key, value, 0, 2).Draw(rt, "labels")}
				for range rapid.IntRange(0, 2).Draw(rt, "expressions") {
					e := metav1.LabelSelectorRequirement{Key: key.Draw(rt, "key"), Operator: operator.Draw(rt, "operator")}
					if e.Operator == metav1.LabelSelectorOpIn || e.Operator == metav1.LabelSelectorOpNotIn {
						e.Values = rapid.SliceOfNDistinct(value, 1, 3, rapid.ID[string]).Draw(rt, "values")
					}
					pdb.Spec.Selector.MatchExpressions = append(pdb.Spec.Selector.MatchExpressions, e)
				}
			}
			list = append(list, pdb)
		}
		shuffled := rapid.Permutation(list).Draw(rt, "order")
		budgets, err := pods.NewBudgets(shuffled)
		if err != nil {
			rt.Fatal(err)
		}
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "x", Name: "p", Labels: rapid.MapOfN(key, value, 0, 3).Draw(rt, "labels of the pod")}}
		var want, got []string
		for _, pdb := range list {
			selector, err := metav1.LabelSelectorAsSelector(pdb.Spec.Selector)
			if err != nil {
				rt.Fatal(err)
			}
			if pdb.Namespace == pod.Namespace && selector.Matches(labels.Set(pod.Labels)) {
				want = append(want, pdb.Name)
			}
		}
		for _, b := range budgets.Of(pod) {
			got = append(got, b.Key.Name)
		}
		if !slices.Equal(got, want) {
			rt.Errorf("budgets of a pod with %v: %v, want %v", pod.Labels, got, want)
		}
	})
}
