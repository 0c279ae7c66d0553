package drawknife_test

import (
	"context"
	"fmt"
	"log"
	"time"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/disruption"
	"github.com/drawknife/drawknife/fake"
	"github.com/drawknife/drawknife/fake/build"
	"github.com/drawknife/drawknife/fake/world"
)

// Which of four nodes could go, and why the others stay. Nodes and claims are made up here; those of a cluster come from
// scheduling/cluster, those of files from scheduling/manifests.
func Example_disruption() {
	w := world.New(fake.GenericTypes(60))
	w.Pool(build.Pool("default", build.Budget("100%"))) // left out, a tenth of the nodes may go at a time
	ofWeb := build.OwnedBy("apps/v1", "ReplicaSet", "web")
	w.Node("busy", "c1.large", build.Pod("batch", build.CPU("1"), build.Annotations(v1.DoNotDisruptAnnotationKey, "true")))
	w.Node("half", "c1.xlarge", build.Pods("web", 2, build.CPU("1"), ofWeb)...)
	w.Node("idle", "c1.xlarge")
	w.Node("other", "c1.large", build.Pod("web-2", build.CPU("1"), ofWeb))
	w.Clock.Advance(24 * time.Hour)

	fleet, err := disruption.Survey(disruption.Input{View: disruption.ViewOf(w.Snapshot())})
	if err != nil {
		log.Fatal(err)
	}
	plan, err := (&disruption.Global{}).Plan(context.Background(), fleet)
	if err != nil {
		log.Fatal(err)
	}
	for _, command := range plan.Commands {
		fmt.Println(command)
	}
	for _, verdict := range plan.Verdicts { // one for each node, by name
		fmt.Println(verdict)
	}
	// Output:
	// delete idle (Empty), moving 0 pods, saving 0.1651 USD/h
	// replace half, other (Underutilized), launch c1g.xlarge/test-region-1a/spot of default, moving 3 pods, saving 0.2107 USD/h
	// busy stays: pod default/batch must not be disrupted (annotation karpenter.sh/do-not-disrupt)
	// half is replaced by MultiNodeConsolidation
	// idle is removed by Emptiness
	// other is replaced by MultiNodeConsolidation
}
