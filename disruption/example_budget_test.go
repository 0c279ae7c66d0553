package disruption_test

import (
	"fmt"
	"log"
	"time"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/drawknife/drawknife/disruption"
)

// In addition to what NodePools state: nothing of the payments team goes in office hours, and no more than ten pods move in ten minutes,
// whosoever they are. When may a node go, and what is in the way?
func ExampleBudget() {
	w := newWorld() // it is 10:00 UTC, noon in Berlin
	w.node("web", "c4", holding(pods("web", 3, "1")...))
	w.node("pay", "c4", labelled("team", "payments"), holding(pods("pay", 3, "1")...))
	office, err := disruption.ParseCalendar("0 8 * * mon-fri", 10*time.Hour, "Europe/Berlin")
	if err != nil {
		log.Fatal(err) // a *CalendarError: which field, and why not
	}
	fleet, err := disruption.Survey(disruption.Input{
		View: disruption.ViewOf(w.snapshot),
		Budgets: []disruption.Budget{
			{Name: "payments, office hours", Scope: disruption.Scope{Labels: labels.SelectorFromSet(labels.Set{"team": "payments"})}, Unit: disruption.UnitNodes, Calendar: office},
			{Name: "ten pods in ten minutes", Unit: disruption.UnitPods, Amount: 10, Window: 10 * time.Minute},
		},
		// Anyone who starts commands notes them by DisruptionOf, and keeps them for as long as the longest window.
		History: []disruption.Disruption{{Node: "gone", Time: w.snapshot.Time.Add(-4 * time.Minute), Reason: disruption.ReasonExpired, Pods: 8}},
	})
	if err != nil {
		log.Fatal(err)
	}
	tracker, err := disruption.NewBudgetTracker(fleet)
	if err != nil {
		log.Fatal(err) // a *BudgetError
	}
	for _, c := range fleet.Candidates {
		window := tracker.NextWindow(c, disruption.ReasonUnderutilized)
		fmt.Printf("%s: from %s on; now %s\n", c.Name, window.Start.Format("15:04"), window.Block)
	}
	// Output:
	// pay: from 16:00 on; now payments, office hours allows 0 and 0 are in use until 2026-05-04T16:00:00Z
	// web: from 10:06 on; now ten pods in ten minutes allows 10 and 8 are in use until 2026-05-04T10:06:00Z
}
