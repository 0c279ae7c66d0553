package disruption_test

import (
	"os"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"github.com/drawknife/drawknife/disruption"
	"github.com/drawknife/drawknife/internal/seeded"
	"github.com/drawknife/drawknife/internal/workload"
)

// A plan that was not checked rarely makes provisioning launch a node, if the fleet is small and random, and mostly if the fleet is mixed and
// its new nodes are filled completely. The figures of Global.Checks and docs/disruption.md come from
//
//	DRAWKNIFE_PLANS=3000 go test ./disruption -run TestHowOftenProvisioningLaunches -v -timeout 0
func TestHowOftenProvisioningLaunches(t *testing.T) {
	draws := 400
	if text := os.Getenv("DRAWKNIFE_PLANS"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			t.Fatalf("DRAWKNIFE_PLANS=%q: give a number of fleets", text)
		}
		draws = n
	}
	plans, launches := 0, 0
	seeded.Times(t, draws, func(rt *rapid.T) {
		w := drawnWorld(rt)
		plan, err := drawnPlanner(rt).Plan(t.Context(), w.fleet(t))
		if err != nil {
			rt.Fatal(err)
		}
		if len(plan.Commands) == 0 {
			return
		}
		plans++
		if !nothingMore(rt, displaced(rt, w.snapshot, plan.Commands, true)) {
			launches++
		}
	})
	t.Logf("small random fleets: provisioning launches after %d of %d plans", launches, plans)
	if plans == 0 || launches*50 > plans {
		t.Errorf("provisioning launches after %d of %d plans for small random fleets, want at most one in 50", launches, plans)
	}
	if testing.Short() {
		return
	}
	plans, launches = 0, 0
	for seed := range uint64(5) {
		for _, fill := range []float64{0.1, 0.4, 0.7} {
			s := workload.Fleet{Nodes: 25, Fill: fill, Mixed: true, Seed: seed + 1}.Snapshot()
			plan, err := (&disruption.Global{}).Plan(t.Context(), surveyed(t, s))
			if err != nil {
				t.Fatal(err)
			}
			plans++
			if !nothingMore(t, displaced(t, s, plan.Commands, true)) {
				launches++
			}
		}
	}
	t.Logf("mixed fleets of 25 nodes: provisioning launches after %d of %d plans", launches, plans)
	if launches == 0 {
		t.Error("provisioning never launches after plans for mixed fleets: Global.Checks says otherwise")
	}
}
