package drawknife_test

import (
	"context"
	"fmt"
	"log"
	"time"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/fake"
	"github.com/drawknife/drawknife/fake/build"
	"github.com/drawknife/drawknife/scheduling"
)

// Plan nodes for 13 pending pods. The NodePool allows only spot, and one of the pods wants on-demand. The instance types are made up.
func Example() {
	pool := build.Pool("default", build.Requires(v1.CapacityTypeLabelKey, "In", v1.CapacityTypeSpot))
	shop := build.Namespace("shop")
	pods := build.Pods("web", 12, shop, build.CPU("1500m"), build.Memory("4Gi"))
	pods = append(pods, build.Pod("train", shop, build.CPU("2"), build.Selector(v1.CapacityTypeLabelKey, v1.CapacityTypeOnDemand)))

	model, err := scheduling.Compile(&scheduling.Snapshot{
		Time:       time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC),
		Vocabulary: fake.GenericCapabilities().Vocabulary,
		Catalogs:   map[string][]*cloudprovider.InstanceType{"generic": fake.GenericTypes(60)},
		NodePools:  []scheduling.NodePool{{Object: pool, Catalog: "generic"}},
		Pods:       pods,
	})
	if err != nil {
		log.Fatal(err)
	}
	plan, err := model.Solve(context.Background(), scheduling.Query{})
	if err != nil {
		log.Fatal(err)
	}

	for _, node := range plan.NewNodes {
		best := node.InstanceTypes[0]
		fmt.Printf("%s: %s in %s, %s, $%.4f/h, %d pods\n", node.Name, best.Name, best.Zone, best.CapacityType, best.Price, len(node.Pods))
	}
	for _, pod := range plan.Unschedulable {
		for _, reason := range pod.Reasons { // one for each NodePool
			fmt.Println(pod.Pod, "has no place:", reason)
		}
	}
	fmt.Printf("$%.4f/h, and no set of new nodes costs less than $%.4f/h\n", plan.HourlyCost, plan.LowerBound)
	// Output:
	// default-1: m1g.4xlarge in test-region-1a, spot, $0.1604/h, 10 pods
	// default-2: m1g.large in test-region-1c, spot, $0.0215/h, 1 pods
	// default-3: m1g.large in test-region-1c, spot, $0.0215/h, 1 pods
	// shop/train has no place: incompatible with nodepool "default", incompatible requirements, key karpenter.sh/capacity-type: the pod wants In [on-demand], the pool allows In [spot]
	// $0.2035/h, and no set of new nodes costs less than $0.1925/h
}
