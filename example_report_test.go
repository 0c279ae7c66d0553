package drawknife_test

import (
	"context"
	"fmt"
	"log"

	"github.com/drawknife/drawknife/fake"
	"github.com/drawknife/drawknife/fake/build"
	"github.com/drawknife/drawknife/fake/world"
	"github.com/drawknife/drawknife/scheduling"
)

// A report of what pods need: what each pool would launch and cost, how far from the cheapest that can be, and what has no place. The
// certificate proves the bound to who does not believe it.
func Example_report() {
	w := world.New(fake.GenericTypes(60))
	w.Pool(build.Pool("batch", build.Taints("team=batch:NoSchedule"), build.Weight(10)))
	w.Pool(build.Pool("web", build.Limit("cpu", "24")))
	w.Pending(build.Pods("web", 12, build.CPU("1500m"), build.Memory("4Gi"))...)
	w.Pending(build.Pods("batch", 3, build.CPU("6"), build.Tolerates("team=batch"))...)
	w.Pending(build.Pod("huge", build.CPU("200")))
	model, err := scheduling.Compile(w.Snapshot())
	if err != nil {
		log.Fatal(err)
	}
	plan, err := model.Solve(context.Background(), scheduling.Query{})
	if err != nil {
		log.Fatal(err)
	}

	type share struct {
		nodes, pods int
		cost        float64
	}
	byPool := map[string]share{}
	for _, node := range plan.NewNodes {
		s := byPool[node.Pool.Name]
		byPool[node.Pool.Name] = share{s.nodes + 1, s.pods + len(node.Pods), s.cost + node.InstanceTypes[0].Price}
	}
	for _, pool := range w.Snapshot().NodePools {
		s := byPool[pool.Key.Name]
		fmt.Printf("%-8s %d nodes for %2d pods, $%.4f/h\n", pool.Key.Name, s.nodes, s.pods, s.cost)
	}
	fmt.Printf("$%.4f/h in all; at most %.1f %% could be saved\n", plan.HourlyCost, 100*(1-plan.LowerBound/plan.HourlyCost))
	for _, pod := range plan.Unschedulable {
		for _, reason := range pod.Reasons {
			fmt.Println(pod.Pod, reason)
		}
	}
	// Output:
	// batch    2 nodes for  3 pods, $0.2039/h
	// web      3 nodes for 12 pods, $0.2035/h
	// $0.4074/h in all; at most 3.5 % could be saved
	// default/huge incompatible with nodepool "batch", did not tolerate team=batch:NoSchedule; also no instance type fits: of 60, 60 are too small for cpu 200
	// default/huge incompatible with nodepool "web", no instance type fits: of 60, 60 are too small for cpu 200
}
