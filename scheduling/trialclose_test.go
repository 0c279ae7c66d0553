package scheduling_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/scheduling"
)

// A closed node takes no more pods and keeps those that it has; rolled back, it is as before.
func TestTrialClose(t *testing.T) {
	trial := compile(t, cluster(node("n", bound(pod("a"))), node("m", bound(pod("b"))), pod("p"))).Trial()
	start := trial.Mark()
	before := text(t, planOf(t, trial))
	for range 2 {
		if err := trial.Close("n"); err != nil {
			t.Fatal(err)
		}
	}
	if trial.Close("x") == nil {
		t.Error("a node that is not there was closed")
	}
	afterClose := trial.Mark()
	mustHide(t, trial, "n")
	mustRollback(t, trial, afterClose) // showing it again does not open it
	mustPlace(t, trial, scheduling.PlaceOptions{ExistingOnly: true})
	wantPlace(t, planOf(t, trial), "p", "on m")
	mustRollback(t, trial, afterClose)
	mustHide(t, trial, "m")
	if out := mustPlace(t, trial, scheduling.PlaceOptions{ExistingOnly: true}); out.Unplaced != 2 {
		t.Errorf("%+v: a closed node took pods", out)
	}
	mustRollback(t, trial, start)
	if diff := cmp.Diff(before, text(t, planOf(t, trial))); diff != "" {
		t.Errorf("rolled back (-before +after):\n%s", diff)
	}
	mustHide(t, trial, "m")
	if out := mustPlace(t, trial, scheduling.PlaceOptions{ExistingOnly: true}); out.Unplaced != 0 {
		t.Errorf("%+v: the node is still closed", out)
	}
}

// Only pods that move wait for a place when their node is hidden, and come back when it is shown.
func TestTrialHideMoving(t *testing.T) {
	trial := compile(t, cluster(node("n", bound(pod("a"), pod("b"))), node("m"))).Trial()
	start := trial.Mark()
	n, err := trial.HideMoving("n", func(p *corev1.Pod) bool { return p.Name == "b" })
	if err != nil || n != 1 {
		t.Fatalf("%d pods wait, %v; want one", n, err)
	}
	mustPlace(t, trial, scheduling.PlaceOptions{})
	placed := trial.Placed()
	wantPlace(t, placed, "b", "on m")
	if len(placed.Order) != 1 {
		t.Errorf("placed %v, want b alone", placed.Order)
	}
	mustRollback(t, trial, start)
	if got := mustHide(t, trial, "n"); got != 2 {
		t.Errorf("after rolling back %d pods wait, want 2", got)
	}
}
