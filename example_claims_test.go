package drawknife_test

import (
	"context"
	"fmt"
	"log"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/fake"
	"github.com/drawknife/drawknife/fake/build"
	"github.com/drawknife/drawknife/fake/world"
	"github.com/drawknife/drawknife/provisioning"
	"github.com/drawknife/drawknife/scheduling"
)

// From a plan to the NodeClaims that a controller stores: each names the instance types that would do, and how much of the pool's limits
// it may take.
func Example_claims() {
	w := world.New(fake.GenericTypes(60))
	w.Pool(build.Pool("default"))
	w.Pending(build.Pods("web", 6, build.CPU("1500m"), build.Memory("4Gi"))...)
	snapshot := w.Snapshot()
	model, err := scheduling.Compile(snapshot)
	if err != nil {
		log.Fatal(err)
	}
	plan, err := model.Solve(context.Background(), scheduling.Query{})
	if err != nil {
		log.Fatal(err)
	}
	orders, err := provisioning.Decide(snapshot, plan, provisioning.PassOptions{})
	if err != nil {
		log.Fatal(err)
	}
	for _, launch := range orders.Launches {
		fmt.Printf("%s for %d pods, from $%.4f/h:\n", launch.Claim.GenerateName, len(launch.Pods), launch.Price)
		for _, r := range launch.Claim.Spec.Requirements {
			if r.Key == corev1.LabelInstanceTypeStable {
				fmt.Printf("  %d instance types, first %s\n", len(r.Values), r.Values[0])
			}
		}
		fmt.Println("  up to", launch.Capacity.Cpu(), "cpu of the pool's limits")
	}
	// Output:
	// default- for 5 pods, from $0.0943/h:
	//   40 instance types, first m1g.2xlarge
	//   up to 96 cpu of the pool's limits
	// default- for 1 pods, from $0.0215/h:
	//   52 instance types, first m1g.large
	//   up to 96 cpu of the pool's limits
}
