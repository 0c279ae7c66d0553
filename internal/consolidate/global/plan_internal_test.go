package global

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/drawknife/drawknife/disruption/decision"
)

func planner() *Options {
	return &Options{MaxMembers: 10, MaxBins: 2, MaxMerged: 10, Work: 1000, Parallelism: 1, Checks: 8, Seed: 1, LaunchTime: time.Minute, ReadyTime: time.Minute}
}

// Two nodes whose pods have room on one are one node less. The bound is below the cost, and what stays has a reason.
func TestPlan(t *testing.T) {
	plan, err := planner().Plan(t.Context(), fleetAt(t, noon))
	if err != nil {
		t.Fatal(err)
	}
	saved := 0.0
	for _, cmd := range plan.Commands {
		saved += cmd.Savings
	}
	if len(plan.Commands) == 0 || saved <= 0 || !plan.Time.Equal(noon) || plan.Cost != 0.4 || plan.Floor <= 0 || plan.Floor > plan.Cost-saved+1e-9 {
		t.Errorf("%d commands save %v of %v, the bound is %v", len(plan.Commands), saved, plan.Cost, plan.Floor)
	}
	if len(plan.Verdicts) != 2 {
		t.Fatalf("verdicts are %+v", plan.Verdicts)
	}
	for _, v := range plan.Verdicts {
		if (v.Command == "") != (len(v.Blocks) > 0) {
			t.Errorf("the verdict of %s is %+v", v.Node, v)
		}
	}
}

// What must be earned and is not keeps all nodes, and each says so.
func TestPlanThatDoesNotPay(t *testing.T) {
	g := planner()
	g.MinSaving = 100
	plan, err := g.Plan(t.Context(), fleetAt(t, noon))
	if err != nil || len(plan.Commands) != 0 {
		t.Fatalf("%+v, %v", plan.Commands, err)
	}
	for _, v := range plan.Verdicts {
		if v.Outcome != decision.OutcomeKept || len(v.Blocks) == 0 {
			t.Errorf("the verdict of %s is %+v", v.Node, v)
		}
	}
}

// The same fleet a minute later has the same plan, from memory; with other options it has a plan of its own. A plan that is cancelled is
// none.
func TestPlanAgain(t *testing.T) {
	g := planner()
	first, memory, err := g.PlanAgain(t.Context(), fleetAt(t, noon), nil)
	if err != nil || memory == nil || len(first.Commands) == 0 {
		t.Fatalf("%+v, %v", first, err)
	}
	later := noon.Add(time.Minute)
	second, next, err := g.PlanAgain(t.Context(), fleetAt(t, later), memory)
	if err != nil || len(second.Commands) != len(first.Commands) || !second.Time.Equal(later) {
		t.Fatalf("%+v, %v", second, err)
	}
	if next.plan != memory.plan || second.Commands[0].ID == first.Commands[0].ID || second.Commands[0].Members[0].Node != first.Commands[0].Members[0].Node {
		t.Errorf("the plan was not taken from memory: %+v", second.Commands[0])
	}
	other := planner()
	other.MinSaving = 100
	third, fresh, err := other.PlanAgain(t.Context(), fleetAt(t, later), next)
	if err != nil || len(third.Commands) != 0 || fresh.plan == memory.plan {
		t.Errorf("with other options: %+v, %v", third, err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if plan, m, err := g.PlanAgain(ended, fleetAt(t, later), memory); !errors.Is(err, context.Canceled) || plan != nil || m != nil {
		t.Errorf("cancelled: %v, %v, %v", plan, m, err)
	}
}
