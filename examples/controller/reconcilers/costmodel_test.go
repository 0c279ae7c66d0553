package reconcilers

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/scheduling"
)

// Launches and disruption are planned by the cost model of the options: what is cheapest by list price is not launched if a fee makes it dear.
func TestCostModel(t *testing.T) {
	launched := func(change func(*Options)) []string {
		w := newWorld(t, change)
		w.create(newPod("a"))
		w.plan()
		claims := w.allClaims()
		if len(claims) != 1 {
			t.Fatalf("%d claims", len(claims))
		}
		for _, r := range claims[0].Spec.Requirements {
			if r.Key == corev1.LabelInstanceTypeStable {
				return r.Values
			}
		}
		return nil
	}
	plain := launched(func(*Options) {})
	if len(plain) < 2 {
		t.Fatalf("launched %q", plain)
	}
	asked := 0
	fee := 1000.0
	model := &scheduling.CostModel{Terms: []scheduling.CostTerm{{Name: "fee", Source: "test", PerNode: &fee}}}
	model.Terms[0].Where.Requirements = []corev1.NodeSelectorRequirement{{Key: corev1.LabelInstanceTypeStable, Operator: corev1.NodeSelectorOpIn, Values: plain[:1]}}
	other := launched(func(o *Options) {
		o.CostModel = func(s *scheduling.Snapshot) *scheduling.CostModel {
			if asked++; len(s.NodePools) != 1 || len(s.Catalogs) == 0 {
				t.Errorf("asked with %d pools and %d catalogs", len(s.NodePools), len(s.Catalogs))
			}
			return model
		}
	})
	if len(other) == 0 || asked == 0 || other[0] == plain[0] {
		t.Errorf("launched %q, with a fee on the first %q; asked %d times", plain, other, asked)
	}
}
