package disruption_test

import (
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
	ledger, err := disruption.NewLedger(fleet)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(ledger.NextWindow(fleet.Candidate("idle"), disruption.ReasonEmpty).Start)
	// Output:
	// idle: 0.20 USD/h, empty: true
	// busy: pod default/db-0 must not be disrupted (annotation karpenter.sh/do-not-disrupt)
	// 2026-05-04 10:00:00 +0000 UTC
}
