package valuing_test

import (
	"context"
	"testing"

	"github.com/drawknife/drawknife/internal/trialtest"
	"github.com/drawknife/drawknife/internal/workload"
	"github.com/drawknife/drawknife/scheduling"
)

// A trial's values add up to a floor under what its nodes cost, near to it where pods are alike, and are those of the
// pods that wait: none is left once they are placed.
func TestTrialValues(t *testing.T) {
	m, err := scheduling.Compile(workload.Named("b", 1000))
	if err != nil {
		t.Fatal(err)
	}
	trial := trialtest.New(m.Engine())
	v, err := trial.Values(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	out, err := trial.Place(context.Background(), scheduling.PlaceOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if v.Total() > out.NewCost || v.Total() < 0.9*out.NewCost {
		t.Errorf("the pods are worth %.4f USD/h, their nodes cost %.4f: want a floor, within a tenth", v.Total(), out.NewCost)
	}
	pod := scheduling.PodKey{Namespace: "default", Name: "dep00-00000"}
	if v.Of(pod) <= 0 {
		t.Errorf("pod %s is worth %v", pod, v.Of(pod))
	}
	after, err := trial.Values(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if after.Total() != 0 || after.Of(pod) != 0 {
		t.Errorf("placed pods are still worth %v", after.Total())
	}
}
