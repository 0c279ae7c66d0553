package spotlimits_test

import (
	"context"
	"fmt"
	"log"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/fake/build"
	"github.com/drawknife/drawknife/scheduling"
)

// A service of ten pods, of which two stay on demand and at most four are on one instance type in one zone.
func Example() {
	pods := build.Pods("web", 10, build.CPU("900m"), build.OwnedBy("apps/v1", "ReplicaSet", "web"),
		build.Annotations(v1.OnDemandBaseAnnotationKey, "2", v1.SpotPoolMaxShareAnnotationKey, "40%"))
	model, err := scheduling.Compile(&scheduling.Snapshot{
		Pods:      pods,
		NodePools: []scheduling.NodePool{{Key: v1.NewPoolKey("default"), Object: build.Pool("default"), Catalog: "all"}},
		Catalogs: map[string][]*cloudprovider.InstanceType{"all": {
			build.InstanceType("m", build.CPU("4"), build.Memory("16Gi"), build.OnDemand("a", 0.20), build.Spot("a", 0.06)),
			build.InstanceType("s", build.CPU("2"), build.Memory("8Gi"), build.OnDemand("a", 0.10), build.Spot("a", 0.04)),
		}},
	})
	if err != nil {
		log.Fatal(err)
	}
	plan, err := model.Solve(context.Background(), scheduling.Query{})
	if err != nil {
		log.Fatal(err)
	}
	for _, n := range plan.NewNodes {
		o := n.InstanceTypes[0]
		fmt.Printf("%s %s for %d pods\n", o.Name, o.CapacityType, len(n.Pods))
	}
	fmt.Println(plan.Notes[0].Object+":", plan.Notes[0].Message)
	// Output:
	// s on-demand for 2 pods
	// m spot for 4 pods
	// s spot for 2 pods
	// s spot for 2 pods
	// ReplicaSet default/web: of 10 pods, at most 8 may be on spot nodes, and at most 4 on one instance type in one zone: 2 of the 10 that wait may not (drawknife.dev/on-demand-base 2, drawknife.dev/spot-pool-max-share 40%)
}
