package drawknife_test

import (
	"context"
	"fmt"
	"log"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/fake"
	"github.com/drawknife/drawknife/fake/build"
	"github.com/drawknife/drawknife/fake/world"
	"github.com/drawknife/drawknife/scheduling"
)

// What if: the same pods are planned twice, once with spot and once without, and the plans are compared. A change can be anything that a
// snapshot says: other pods, prices, zones, nodes that are gone.
func Example_whatIf() {
	plan := func(options ...build.PoolOption) *scheduling.Plan {
		w := world.New(fake.GenericTypes(60))
		w.Pool(build.Pool("default", options...))
		w.Pending(build.Pods("web", 6, build.CPU("1500m"), build.Memory("4Gi"))...)
		model, err := scheduling.Compile(w.Snapshot())
		if err != nil {
			log.Fatal(err)
		}
		plan, err := model.Solve(context.Background(), scheduling.Query{})
		if err != nil {
			log.Fatal(err)
		}
		return plan
	}
	today := plan()
	withoutSpot := plan(build.Requires(v1.CapacityTypeLabelKey, "NotIn", v1.CapacityTypeSpot))
	fmt.Print(scheduling.Diff(today, withoutSpot))
	// Output:
	// BEFORE  AFTER   CHANGE
	// USD per hour                                  0.1159  0.3920  +0.2761
	// lower bound                                   0.1132  0.3760  +0.2628
	// default m1g.2xlarge/test-region-1a/on-demand  0       1       +1
	// default m1g.2xlarge/test-region-1c/spot       1       0       -1
	// default m1g.large/test-region-1a/on-demand    0       1       +1
	// default m1g.large/test-region-1c/spot         1       0       -1
	// moved from new default m1g.2xlarge/test-region-1c/spot to new default m1g.2xlarge/test-region-1a/on-demand: 5 (default/web-0, default/web-1, default/web-2, and 2 more)
	// moved from new default m1g.large/test-region-1c/spot to new default m1g.large/test-region-1a/on-demand: 1 (default/web-5)
}
