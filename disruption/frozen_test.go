package disruption_test

import (
	"context"
	"flag"
	"fmt"
	"testing"

	"github.com/drawknife/drawknife/disruption"
	"github.com/drawknife/drawknife/internal/frozen"
)

var updateFrozen = flag.Bool("update", false, "record digests of plans again")

// Plans of both planners for random fleets, as they come and without thresholds, are as recorded.
func TestFrozenFleets(t *testing.T) {
	planners := []struct {
		name string
		disruption.Planner
	}{{"global", &disruption.Global{}}, {"reference", &disruption.Reference{}}, {"thrifty", thrifty()}, {"spot", referenceOf()}}
	n := len(planners)
	frozen.Check(t, frozen.Recording{File: "testdata/frozen/plans.txt", Count: 500 * n, Short: 40 * n, Update: *updateFrozen, Answer: func(t *testing.T, i int) (string, []byte) {
		plan, err := planners[i%n].Plan(context.Background(), frozen.Drawn(drawnWorld, i/n).fleet(t))
		if err != nil {
			t.Fatalf("fleet %d: %v", i/n, err)
		}
		return fmt.Sprintf("%s/%d", planners[i%n].name, i/n), []byte(encoded(t, plan))
	}})
}
