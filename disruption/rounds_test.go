package disruption_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/disruption"
	"github.com/drawknife/drawknife/provisioning"
	"github.com/drawknife/drawknife/scheduling/nodeclaims"
)

// DIS-071: what is wrong with pools' budgets is said before anything is planned, by field and pool; the pool's other reasons go
// on.
func TestBudgetFaults(t *testing.T) {
	w := newWorld()
	daily := "@daily"
	w.pool("default", budgets(
		v1.Budget{Nodes: "10%"}, v1.Budget{Nodes: "many", Reasons: []v1.DisruptionReason{v1.DisruptionReasonDrifted}}, scheduled(v1.Budget{Nodes: "1"}, "* * * * 7", time.Hour),
	))
	w.pool("another", budgets(v1.Budget{Nodes: "1", Schedule: &daily}))
	var got []string
	for _, err := range w.fleet(t).BudgetFaults() {
		got = append(got, err.Error())
	}
	for i, want := range []string{
		"spec.disruption.budgets[0] of nodepool another: duration: is missing",
		`spec.disruption.budgets[1] of nodepool default: nodes: `, "spec.disruption.budgets[2] of nodepool default: schedule: ",
	} {
		if i >= len(got) || !strings.Contains(got[i], want) {
			t.Errorf("%d: %q, want %q", i, got, want)
		}
	}
	if len(got) != 3 {
		t.Errorf("%d faults: %q", len(got), got)
	}
	if faults := newWorld().fleet(t).BudgetFaults(); faults != nil {
		t.Errorf("of good budgets: %v", faults)
	}
}

// DIS-076, DIS-078: a pass ends with the first method that finds something, and the next begins with the first again: commands
// under way are side by side, until budgets, marks and nominations leave nothing to be done.
func TestRounds(t *testing.T) {
	w := newWorld()
	w.pool("default", budgets(v1.Budget{Nodes: "4"}))
	for i := range 3 {
		w.node(fmt.Sprintf("drifted-%d", i), "c4", drifted(time.Duration(i+1)*time.Hour), holding(pods(fmt.Sprint("d", i), 3, "1")...))
	}
	w.node("empty", "c4")
	w.node("large", "c16", holding(pods("p", 3, "1")...))
	var queue disruption.Queue
	var pace disruption.Pace
	var rounds []string
	for range 10 {
		w.input.Executing = queue.Executing()
		p := w.plan(t, &disruption.Reference{})
		for _, cmd := range p.Commands {
			if _, err := queue.Add(cmd); err != nil {
				t.Fatal(err)
			}
		}
		outcome := disruption.PassFruitless
		if len(p.Commands) > 0 {
			outcome = disruption.PassStarted
			rounds = append(rounds, string(p.Commands[0].Method)+" "+strings.Join(p.Commands[0].Nodes(), " "))
		}
		if wait := pace.After(outcome); (wait == 0) != (len(p.Commands) > 0) {
			t.Errorf("after %d commands the next pass is in %s", len(p.Commands), wait)
		}
	}
	if want := []string{"Emptiness empty", "Drift drifted-2", "Drift drifted-1", "Drift drifted-0"}; !slices.Equal(rounds, want) {
		t.Errorf("%q, want %q, and the budget to keep the fifth", rounds, want)
	}
	if n := len(queue.Executions()); n != 4 {
		t.Errorf("%d commands are under way", n)
	}
}

// DIS-317: a static node's command that failed before its replacement came takes no room of the limit with it: room is counted
// each time.
func TestStaticRoomIsNotLost(t *testing.T) {
	w := newWorld()
	w.pool("default", replicas(2), func(p *v1.NodePool) { p.Spec.Limits = amounts("nodes=3") })
	w.fill("n", 2, drifted(time.Hour))
	first := w.plan(t, &disruption.Reference{})
	e := disruption.Execute(first.Commands[0])
	observed := disruption.Observed{Replacements: []disruption.ReplacementState{{Err: fmt.Errorf("limit")}}}
	for range 5 {
		e.Next(observed, now())
	}
	if e.State() != disruption.StateFailed {
		t.Fatalf("%s", e.State())
	}
	if second := w.plan(t, &disruption.Reference{}); len(second.Commands) != len(first.Commands) || len(first.Commands) != 1 {
		t.Errorf("%q, then %q", said(first), said(second))
	}
}

// DIS-188: while a static node is being replaced, its pool neither launches another nor gives one back, from the taint to the end;
// and no other of its nodes is taken, since one more than asked for is there.
func TestStaticReplacement(t *testing.T) {
	w := newWorld()
	pool := w.pool("default", replicas(2))
	pool.Conditions().SetTrue(v1.ConditionReady, now())
	w.fill("n", 2, drifted(time.Hour))
	if got := said(w.plan(t, &disruption.Reference{})); got != "StaticDrift: n-00 -> one of default; StaticDrift: n-01 -> one of default" {
		t.Fatal(got)
	}
	w.node("new", "c4")
	w.input.Executing = map[string]string{"n-00": "c"}
	if p := w.plan(t, &disruption.Reference{}); why(t, p, "n-01", disruption.MethodStaticDrift).Code != disruption.BlockScalingDown {
		t.Errorf("%q", said(p))
	}
	state := provisioning.StaticState{Pool: pool}
	for i := range w.snapshot.Nodes {
		n := &w.snapshot.Nodes[i]
		_, replaced := w.input.Executing[n.Name]
		state.Claims = append(state.Claims, provisioning.StaticClaim{Claim: n.Claim, Replaced: replaced})
	}
	step, err := provisioning.ScaleStatic(state, nodeclaims.Options{}, now())
	if err != nil || len(step.Launches)+len(step.Deletions) > 0 {
		t.Errorf("%+v, %v", step, err)
	}
}

// DIS-021: the constants of the reference, where a deployment does not set another number.
func TestConstants(t *testing.T) {
	for name, c := range map[string][2]any{
		"idle poll":          {disruption.PlanEvery, 10 * time.Second},
		"not synced":         {disruption.SyncEvery, time.Second},
		"validation delay":   {disruption.DefaultValidationDelay, 15 * time.Second},
		"multi-node batch":   {disruption.DefaultMaxBatch, 100},
		"cheaper spot types": {disruption.DefaultSpotToSpotTypes, 15},
		"types of a claim":   {nodeclaims.DefaultMaxInstanceTypes, 600},
		"pod events":         {provisioning.PodEventEvery, 10 * time.Second},
		"drift":              {disruption.DriftEvery, 5 * time.Minute},
		"lost nodes":         {provisioning.GarbageEvery, 2 * time.Minute},
		"registration":       {provisioning.DefaultRegistrationTimeout, 15 * time.Minute},
		"events":             {disruption.DefaultEventInterval, 2 * time.Minute},
	} {
		if c[0] != c[1] {
			t.Errorf("%s: %v, want %v", name, c[0], c[1])
		}
	}
	w := newWorld()
	w.node("n", "c4", holding(pods("p", 4, "1")...))
	var idle disruption.Idle
	p, err := (&disruption.Reference{}).Plan(context.Background(), w.fleet(t))
	if err != nil || len(p.Commands) > 0 {
		t.Fatal(said(p), err)
	}
	idle.Note(p, 1)
	if wait := idle.Wait(1, now()); wait != 5*time.Minute {
		t.Errorf("nothing changed: planned again in %s", wait)
	}
}

// DIS-290: what the reference has built in are options here: the delay of validation, the size of batches, the bound on the
// search; the period of planning is the caller's (Pace is one).
func TestOptionsOfReference(t *testing.T) {
	for delay, want := range map[*time.Duration]time.Duration{nil: 15 * time.Second, ptr(time.Minute): time.Minute, new(time.Duration): 0} {
		w := newWorld()
		w.node("n", "c4")
		cmd := w.plan(t, &disruption.Reference{ValidationDelay: delay}).Commands[0]
		if got := cmd.NotBefore.Sub(cmd.Planned); got != want {
			t.Errorf("got a delay of %s, want %s", got, want)
		}
	}
	busy := func(r disruption.Reference) string {
		w := newWorld()
		for i := range 4 {
			w.node(fmt.Sprintf("n-%d", i), "c2", holding(pods(fmt.Sprintf("p%d", i), 1, "500m")...))
		}
		w.node("large", "c16", kept)
		return said(w.plan(t, &r))
	}
	for want, r := range map[string]disruption.Reference{
		"MultiNodeConsolidation: n-0 n-1 n-2 n-3": {}, "MultiNodeConsolidation: n-0 n-1 n-2": {MaxBatch: ptr(3)}, "MultiNodeConsolidation: n-0 n-1": {MaxTrials: ptr(1), MaxBatch: ptr(3)},
	} {
		if got := busy(r); got != want {
			t.Errorf("%+v: %q, want %q", r, got, want)
		}
	}
}
