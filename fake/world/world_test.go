package world_test

import (
	"context"
	"fmt"
	"log"
	"strings"
	"testing"
	"time"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/disruption"
	"github.com/drawknife/drawknife/fake"
	"github.com/drawknife/drawknife/fake/build"
	"github.com/drawknife/drawknife/fake/world"
	"github.com/drawknife/drawknife/scheduling"
)

// A cluster of two nodes, a day later: one can go.
func Example() {
	w := world.New(fake.GenericTypes(60))
	w.Pool(build.Pool("default", build.Budget("100%")))
	w.Node("busy", "m1.xlarge", build.Pods("web", 3, build.CPU("1"), build.OwnedBy("apps/v1", "ReplicaSet", "web"))...)
	w.Node("idle", "m1.xlarge")
	w.Clock.Advance(24 * time.Hour)

	fleet, err := disruption.Survey(disruption.Input{View: disruption.ViewOf(w.Snapshot())})
	if err != nil {
		log.Fatal(err)
	}
	plan, err := (&disruption.Global{}).Plan(context.Background(), fleet)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(plan.Commands[0])
	// Output: delete idle (Empty), moving 0 pods, saving 0.2016 USD/h
}

// A world's snapshot is one that planners take, whatever is in it; when a node is gone, its pods wait.
func TestWorld(t *testing.T) {
	place := func(w *world.World) string {
		t.Helper()
		model, err := scheduling.Compile(w.Snapshot())
		if err != nil {
			t.Fatal(err)
		}
		plan, err := model.Solve(t.Context(), scheduling.Query{})
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf("%d new, %d on nodes, %d without a place", len(plan.NewNodes), len(plan.Existing), len(plan.Unschedulable))
	}
	w := world.New(fake.GenericTypes(60))
	if got := place(w); got != "0 new, 0 on nodes, 0 without a place" {
		t.Error(got)
	}
	w.Pending(build.Pod("a", build.CPU("1")), nil)
	if got := place(w); got != "0 new, 0 on nodes, 1 without a place" {
		t.Error(got)
	}
	w.Pool(nil)
	w.Pool(build.Pool("default"))
	if got := place(w); got != "1 new, 0 on nodes, 0 without a place" {
		t.Error(got)
	}
	node, claim := w.Node("n", "m1.xlarge", build.Pod("b", build.CPU("1")), nil)
	if got := place(w); got != "0 new, 1 on nodes, 0 without a place" {
		t.Error(got)
	}
	if node.Labels[v1.NodePoolLabelKey] != "default" || claim.Status.NodeName != "n" || node.Spec.ProviderID != claim.Status.ProviderID {
		t.Errorf("node %+v, claim %+v", node, claim)
	}
	w.Remove("n")
	w.Remove("unheard-of")
	if got := place(w); got != "2 new, 0 on nodes, 0 without a place" || len(w.Snapshot().Pods) != 2 || w.Snapshot().Pods[1].Spec.NodeName != "" {
		t.Error(got, len(w.Snapshot().Pods))
	}
	w.Node("odd", "unheard-of")
	if got := w.Snapshot().Nodes[0]; got.Object.Status.Allocatable.Cpu().Sign() != 0 {
		t.Errorf("a type that is not sold has %v", got.Object.Status.Allocatable)
	}
	was := w.Snapshot().Time
	w.Clock.Advance(time.Hour)
	if now := w.Snapshot().Time; now.Sub(was) != time.Hour {
		t.Errorf("an hour after %v it is %v", was, now)
	}
}

// An amount that was misspelt is no pod that fits anywhere.
func TestMisspeltAmount(t *testing.T) {
	w := world.New(fake.GenericTypes(60))
	w.Pool(build.Pool("default"))
	w.Pending(build.Pod("a", build.CPU("5oom")))
	model, err := scheduling.Compile(w.Snapshot())
	if err != nil {
		t.Fatal(err)
	}
	plan, err := model.Solve(t.Context(), scheduling.Query{})
	if err != nil {
		t.Fatal(err)
	}
	if len(plan.Unschedulable) != 1 || !strings.Contains(fmt.Sprint(plan.Unschedulable[0].Reasons), "cpu") {
		t.Errorf("a pod with a misspelt amount: %+v", plan)
	}
}
