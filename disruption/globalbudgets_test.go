package disruption_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/disruption"
)

// thriftlessNodes are fourteen cheap nodes with little on each, six dear ones with many small pods, and room for all of them
// on nodes that stay.
func thriftlessNodes() *world {
	w := newWorld()
	for i := range 14 {
		w.node(fmt.Sprintf("cheap-%02d", i), "c2", holding(pod(fmt.Sprintf("p-%d", i), asks("cpu=100m"))))
	}
	for i := range 6 {
		w.node(fmt.Sprintf("dear-%d", i), "c8", holding(pods(fmt.Sprintf("q-%d", i), 12, "50m")...))
	}
	for i := range 2 {
		w.node(fmt.Sprintf("stays-%d", i), "c8", annotated(v1.DoNotDisruptAnnotationKey, "true"))
	}
	return w
}

// Under a budget what saves most goes, not what is looked at first: what saves most for each pod that moves.
func TestGlobalChoosesUnderBudgets(t *testing.T) {
	for _, c := range []struct {
		name    string
		nodes   string
		budgets []disruption.Budget
		dear    int
		cheap   int
		saves   float64
	}{
		{name: "a budget of nodes", nodes: "3", dear: 3, saves: 1.2},
		{name: "more than there are dear ones", nodes: "8", dear: 6, cheap: 2, saves: 2.6},
		{name: "a budget of pods in addition", nodes: "4", budgets: []disruption.Budget{{Name: "pods", Unit: disruption.UnitPods, Amount: 27}}, dear: 2, cheap: 2, saves: 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := thriftlessNodes()
			w.pool("default", budgets(v1.Budget{Nodes: c.nodes}))
			w.input.Budgets = c.budgets
			plan, err := thrifty().Plan(t.Context(), w.fleet(t))
			if err != nil {
				t.Fatal(err)
			}
			dear, cheap, saves := 0, 0, 0.0
			for _, cmd := range plan.Commands {
				saves += cmd.Savings
				for _, name := range cmd.Nodes() {
					if strings.HasPrefix(name, "dear") {
						dear++
					} else {
						cheap++
					}
				}
			}
			if dear != c.dear || cheap != c.cheap || math.Abs(saves-c.saves) > 1e-6 {
				t.Errorf("%d dear and %d cheap ones go and save %.2f, want %d and %d and %.2f: %v", dear, cheap, saves, c.dear, c.cheap, c.saves, plan.Commands)
			}
		})
	}
}
