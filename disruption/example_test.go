package disruption_test

import (
	"context"
	"fmt"
	"log"

	"github.com/drawknife/drawknife/disruption"
)

// Which nodes may be disrupted, what keeps the others, and when budgets let one go.
func Example() {
	w := newWorld() // a pool "default" and its instance types
	w.node("idle", "c4")
	w.node("busy", "c4", holding(pod("db-0", podAnnotated("karpenter.sh/do-not-disrupt", "true"))))
	fleet, err := disruption.Survey(disruption.Input{View: disruption.ViewOf(w.snapshot)})
	if err != nil {
		log.Fatal(err)
	}
	for _, c := range fleet.Candidates {
		fmt.Printf("%s: %.2f USD/h, empty: %v\n", c.Name, c.Price, c.Empty())
	}
	fmt.Println("busy:", fleet.Blocked["busy"])
	tracker, err := disruption.NewBudgetTracker(fleet)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(tracker.NextWindow(fleet.Candidate("idle"), disruption.ReasonEmpty).Start)
	// Output:
	// idle: 0.20 USD/h, empty: true
	// busy: pod default/db-0 must not be disrupted (annotation karpenter.sh/do-not-disrupt)
	// 2026-05-04 10:00:00 +0000 UTC
}

// What would cost less: which nodes go, what comes instead, and why others stay.
func ExampleGlobal() {
	w := newWorld() // a pool "default" and its instance types
	w.node("a", "c8", holding(pods("a", 3, "1")...))
	w.node("b", "c8", holding(pods("b", 4, "1")...))
	w.node("idle", "c4")
	fleet, err := disruption.Survey(disruption.Input{View: disruption.ViewOf(w.snapshot)})
	if err != nil {
		log.Fatal(err)
	}
	plan, err := (&disruption.Global{}).Plan(context.Background(), fleet)
	if err != nil {
		log.Fatal(err)
	}
	for _, cmd := range plan.Commands {
		fmt.Println(cmd)
	}
	for _, v := range plan.Verdicts {
		fmt.Println(v.Node, v.Outcome)
	}
	// Output:
	// delete idle (Empty), moving 0 pods, saving 0.2000 USD/h
	// delete a (Underutilized), moving 3 pods, saving 0.4000 USD/h
	// a Removed
	// b Kept
	// idle Removed
}
