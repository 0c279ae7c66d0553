package v1

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/drawknife/drawknife/internal/seeded"
)

// PRV-002, API-179, API-182 to API-185, DIS-010 to DIS-012.
func TestPoolDefaults(t *testing.T) {
	tenPercent := []Budget{{Nodes: "10%"}}
	for _, tc := range []struct {
		name       string
		disruption Disruption
		want       Disruption
	}{
		{"nothing given", Disruption{},
			Disruption{ConsolidateAfter: mustNillable(t, "0s"), ConsolidationPolicy: "WhenEmptyOrUnderutilized", Budgets: tenPercent}},
		{"everything given stays",
			Disruption{ConsolidateAfter: Never(), ConsolidationPolicy: "WhenEmpty", Budgets: []Budget{{Nodes: "3"}}},
			Disruption{ConsolidateAfter: Never(), ConsolidationPolicy: "WhenEmpty", Budgets: []Budget{{Nodes: "3"}}}},
		{"an empty list of budgets stays empty",
			Disruption{Budgets: []Budget{}},
			Disruption{ConsolidateAfter: mustNillable(t, "0s"), ConsolidationPolicy: "WhenEmptyOrUnderutilized", Budgets: []Budget{}}},
		{"a budget without nodes",
			Disruption{Budgets: []Budget{{Reasons: []DisruptionReason{"Empty"}}}},
			Disruption{ConsolidateAfter: mustNillable(t, "0s"), ConsolidationPolicy: "WhenEmptyOrUnderutilized", Budgets: []Budget{{Nodes: "10%", Reasons: []DisruptionReason{"Empty"}}}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			pool := &NodePool{Spec: NodePoolSpec{Disruption: tc.disruption}}
			pool.Default()
			if diff := cmp.Diff(tc.want, pool.Spec.Disruption); diff != "" {
				t.Error(diff)
			}
			if span, ok := pool.Spec.Template.Spec.ExpireAfter.Duration(); !ok || span != 720*time.Hour {
				t.Errorf("expireAfter = %v, want 720h", pool.Spec.Template.Spec.ExpireAfter)
			}
			if pool.Spec.Weight != nil || pool.Spec.Replicas != nil || pool.Spec.Limits != nil || pool.Spec.Template.Spec.TerminationGracePeriod != nil {
				t.Error("a field without a default was filled in")
			}
		})
	}
}

// PRV-005.
func TestClaimDefaults(t *testing.T) {
	claim := &NodeClaim{}
	claim.Default()
	if claim.Spec.ExpireAfter.String() != "720h" {
		t.Errorf("expireAfter = %q, want 720h", claim.Spec.ExpireAfter)
	}
	claim.Spec.ExpireAfter = Never()
	claim.Default()
	if !claim.Spec.ExpireAfter.IsNever() {
		t.Errorf("expireAfter Never became %q", claim.Spec.ExpireAfter)
	}
}

func TestDefaultsAreIdempotentAndValid(t *testing.T) {
	seeded.Check(t, func(t *rapid.T) {
		pool := drawPool(t)
		before := pool.Validate()
		pool.Default()
		once := pool.DeepCopy()
		pool.Default()
		if diff := cmp.Diff(once, pool); diff != "" {
			t.Fatal(diff)
		}
		if after := pool.Validate(); len(after) != len(before) {
			t.Fatalf("validation says %v before defaults and %v after", before, after)
		}
	})
}
