package planner

import (
	"fmt"
	"os"

	"github.com/onsi/ginkgo/v2"

	dkdisruption "github.com/drawknife/drawknife/disruption"
)

// recordReached records which spec asked the planner. Specs that never do this don't count.
func recordReached() {
	path := os.Getenv("COMPAT_REACHED")
	if path == "" {
		return
	}
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return
	}
	defer func() { _ = file.Close() }()
	spec := ginkgo.CurrentSpecReport()
	_, _ = fmt.Fprintf(file, "%q %d\n", spec.FullText(), spec.LeafNodeLocation.LineNumber)
}

// Reached records that the current spec asked for a plan. Runs of the unchanged release call it.
func Reached() { recordReached() }

// log prints the plan. People use it to examine a difference.
func log(q Question, a Answer) {
	if os.Getenv("COMPAT_LOG") == "" {
		return
	}
	fmt.Printf("PLAN for %d pods of %s\n", len(q.Pods), ginkgo.CurrentSpecReport().FullText())
	for _, n := range a.New {
		var names []string
		for _, t := range n.InstanceTypes {
			names = append(names, t.Name)
		}
		fmt.Printf("  new node of %s: %d pods, types %v\n", n.Pool, len(n.Pods), names)
		for _, r := range n.Claim.Spec.Requirements {
			fmt.Printf("    %v\n", r)
		}
	}
	for name, pods := range a.Existing {
		fmt.Printf("  on %s: %d pods\n", name, len(pods))
	}
	for p, why := range a.Refused {
		fmt.Printf("  refused %s/%s: %v\n", p.Namespace, p.Name, why)
	}
}

func logDisruption(fleet *dkdisruption.Fleet, plan *dkdisruption.Plan) {
	if os.Getenv("COMPAT_LOG") == "" {
		return
	}
	fmt.Printf("DISRUPTION in %s\n", ginkgo.CurrentSpecReport().FullText())
	for _, c := range plan.Commands {
		fmt.Printf("  %s\n", c)
	}
	for _, v := range plan.Verdicts {
		fmt.Printf("  %s\n", v)
	}
	for node, why := range fleet.Blocked {
		fmt.Printf("  not a candidate: %s: %v\n", node, why)
	}
}
