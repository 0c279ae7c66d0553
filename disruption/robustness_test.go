package disruption_test

import (
	"slices"
	"strings"
	"testing"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/disruption"
)

// frailWorld has a node whose pods have room on two others: the larger pod on one of them alone, if the smaller is not there
// already. kube-scheduler would put the smaller there, if it came first.
func frailWorld(large string) *world {
	w := newWorld()
	w.node("goes", "c4", holding(pod("large", asks("cpu="+large, "memory=100Mi")), pod("small", asks("cpu=800m", "memory=100Mi"))))
	w.node("wide", "c4", annotated(v1.DoNotDisruptAnnotationKey, "true"), holding(pod("p", asks("cpu=1", "memory=100Mi"))))
	w.node("tight", "c2", annotated(v1.DoNotDisruptAnnotationKey, "true"), holding(pod("q", asks("cpu=1", "memory=100Mi"))))
	return w
}

// With Robustness a wave keeps only commands whose pods find a place wherever kube-scheduler's scores put them; what is left
// out says so.
func TestRobustness(t *testing.T) {
	for _, c := range []struct {
		name   string
		large  string
		orders int
		goes   bool
	}{
		{"places rest on the order", "2500m", 0, true},
		{"one of many orders shows it", "2500m", 16, false},
		{"both have room together", "1900m", 16, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			planner := thrifty()
			planner.Robustness = c.orders
			planner.MaxBins, planner.MinSaving = 1, 0.15 // a new node for the pods costs more than that leaves
			plan, err := planner.Plan(t.Context(), frailWorld(c.large).fleet(t))
			if err != nil {
				t.Fatal(err)
			}
			goes := slices.ContainsFunc(plan.Commands, func(cmd *disruption.Command) bool { return slices.Contains(cmd.Nodes(), "goes") })
			if goes != c.goes || len(plan.Waves) != len(plan.Commands) {
				t.Errorf("goes %v, want %v: %v in %d waves", goes, c.goes, plan.Commands, len(plan.Waves))
			}
			if c.goes {
				return
			}
			for _, v := range plan.Verdicts {
				if v.Node == "goes" && (v.Blocks[len(v.Blocks)-1].Block.Code != disruption.BlockRobustness || !strings.Contains(v.String(), "default/large")) {
					t.Errorf("%s, want that the large pod may find no place", v)
				}
			}
			if !plan.Waiting {
				t.Error("the plan does not say that looking again is worth it")
			}
		})
	}
}
