package rulecosts_test

import (
	"context"
	"fmt"

	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/fake/build"
	"github.com/drawknife/drawknife/scheduling"
	"github.com/drawknife/drawknife/scheduling/rulecosts"
)

const zone, host = "topology.kubernetes.io/zone", "kubernetes.io/hostname"

// shop is a snapshot with one pool, and three pods of a workload that must be in zones and on nodes of their own.
func shop() *scheduling.Snapshot {
	sold := func(name, cpu string, price float64) *cloudprovider.InstanceType {
		return build.InstanceType(name, build.CPU(cpu), build.Memory("32Gi"), build.OnDemand("a", price), build.OnDemand("b", price+0.01), build.Spot("a", price/4))
	}
	pool := build.Pool("general", build.Requires(v1.CapacityTypeLabelKey, "In", "on-demand"))
	return &scheduling.Snapshot{
		Vocabulary: requirements.CoreVocabulary(),
		Catalogs:   map[string][]*cloudprovider.InstanceType{"all": {sold("small", "2", 0.10), sold("large", "8", 0.30)}},
		NodePools:  []scheduling.NodePool{{Key: v1.NewPoolKey("general"), Object: pool, Catalog: "all"}},
		Pods: build.Pods("web", 4, build.CPU("1"), build.Memory("1Gi"), build.Labels("app", "web"),
			build.OwnedBy("apps/v1", "ReplicaSet", "web"), build.Apart(host, "app", "web"), build.Spread(zone, 1, "app", "web")),
	}
}

// What do the rules of a pod, and of the pool that it gets its node from, cost?
func Example() {
	snapshot := shop()
	base, err := rulecosts.New(context.Background(), snapshot, rulecosts.DefaultOptions())
	if err != nil {
		fmt.Println(err)
		return
	}
	pod := scheduling.PodKey{Namespace: "default", Name: "web-0"}
	rules := append(rulecosts.OfPod(snapshot, pod), rulecosts.OfPool(snapshot, v1.NewPoolKey("general"))...)
	report, err := base.Without(context.Background(), rules)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("with all rules: $%.2f an hour\n", base.Plan.HourlyCost)
	for _, c := range report.Costs {
		fmt.Printf("without %s: $%.2f less\n", c.Rule, c.Saving)
	}
	// Output:
	// with all rules: $0.42 an hour
	// without anti-affinity to pods in kubernetes.io/hostname: $0.21 less
	// without karpenter.sh/capacity-type In [on-demand]: $0.15 less
	// without spread over topology.kubernetes.io/zone, maxSkew 1: $0.02 less
}
