package scheduling_test

import (
	"fmt"
	"testing"

	"github.com/drawknife/drawknife/internal/workload"
)

// Small workloads where packing zone by zone was once more expensive than what Karpenter v1.14.1 plans, with the cost of that
// (`internal/bench/compare --scenario f --pods N --seed S`).
func TestFewPodsAreNoDearerThanKarpenters(t *testing.T) {
	for _, c := range []struct {
		scenario string
		pods     int
		seed     uint64
		cost     float64
	}{
		{"f", 5, 5, 0.62950},
		{"f", 7, 3, 3.14749},
		{"f", 12, 11, 2.83274},
		{"f", 16, 18, 3.77699},
		{"f", 60, 16, 16.99642},
		{"c", 5, 18, 0.09926},
		{"c", 12, 2, 0.21752},
		{"d", 12, 14, 0.18398},
	} {
		t.Run(fmt.Sprintf("%s/%d/%d", c.scenario, c.pods, c.seed), func(t *testing.T) {
			s := workload.Seeded(c.scenario, c.pods, c.seed)
			plan := planFor(t, s)
			if len(plan.Unschedulable) > 0 || plan.HourlyCost > c.cost {
				t.Errorf("the plan costs $%.5f/h and leaves %d pods, want at most $%.5f/h and none", plan.HourlyCost, len(plan.Unschedulable), c.cost)
			}
		})
	}
}
