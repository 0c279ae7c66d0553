package trial_test

import (
	"testing"

	"github.com/drawknife/drawknife/internal/parts"
	"github.com/drawknife/drawknife/internal/trialtest"
	"github.com/drawknife/drawknife/scheduling"
)

// What a plan costs at least is that of the pods that have new nodes, not of those whose node was dropped.
func TestTrialDropForgetsWhatPodsWouldCost(t *testing.T) {
	trial := trialtest.New(parts.Compile(t, parts.Cluster(parts.Pods("p", 3, parts.Requests("cpu=3")))).Engine())
	parts.MustPlace(t, trial, scheduling.PlaceOptions{})
	parts.PlanOf(t, trial)
	if _, err := trial.Drop(0); err != nil {
		t.Fatal(err)
	}
	if p := parts.PlanOf(t, trial); p.LowerBound > p.HourlyCost+1e-9 {
		t.Errorf("nodes for %.4f USD/h are said to cost %.4f at least", p.HourlyCost, p.LowerBound)
	}
}
