package valuing_test

import (
	"fmt"
	"math"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"pgregory.net/rapid"

	"github.com/drawknife/drawknife/internal/engine/valuing"
	"github.com/drawknife/drawknife/internal/parts"
	"github.com/drawknife/drawknife/internal/seeded"
	"github.com/drawknife/drawknife/internal/trialtest"
	"github.com/drawknife/drawknife/internal/workload"
	"github.com/drawknife/drawknife/scheduling"
)

// Prices from another time are sound for the pods of this one: no new nodes that any plan launches for pods of some nodes cost less than
// these are worth; and where few pods have changed they prove nearly as much as prices found from nothing.
func TestWorthFromAnotherTime(t *testing.T) {
	before := workload.Fleet{Nodes: 60, Fill: 0.5, Mixed: true}.Snapshot()
	was := parts.Compile(t, before)
	first, err := valuing.FindWorth(t.Context(), was.Engine(), scheduling.Query{})
	if err != nil {
		t.Fatal(err)
	}
	seeded.Check(t, func(rt *rapid.T) {
		now := *before
		now.Nodes = append([]scheduling.Node(nil), before.Nodes...)
		for i := range rapid.IntRange(0, 8).Draw(rt, "changes") {
			n := &now.Nodes[rapid.IntRange(0, len(now.Nodes)-1).Draw(rt, "node")]
			if len(n.Pods) == 0 {
				continue
			}
			n.Pods = append([]*corev1.Pod(nil), n.Pods[1:]...)
			if rapid.Bool().Draw(rt, "another") {
				n.Pods = append(n.Pods, parts.Pod(fmt.Sprintf("new-%d", i), parts.Requests("cpu=700m", "memory=300Mi")))
			}
		}
		m, err := was.Update(&now)
		if err != nil {
			rt.Fatal(err)
		}
		again, err := valuing.WorthFrom(rt.Context(), m.Engine(), scheduling.Query{}, first.Known())
		if err != nil {
			rt.Fatal(err)
		}
		if again.Known() != first.Known() && again.Total() == 0 {
			rt.Fatal("nothing is worth anything")
		}
		fresh, err := valuing.FindWorth(rt.Context(), m.Engine(), scheduling.Query{})
		if err != nil {
			rt.Fatal(err)
		}
		if again.Total() < 0.98*fresh.Total() {
			rt.Errorf("pods are worth %.4f, from nothing %.4f", again.Total(), fresh.Total())
		}
		trial := trialtest.New(m.Engine())
		for range rapid.IntRange(1, 5).Draw(rt, "nodes") {
			name := now.Nodes[rapid.IntRange(0, len(now.Nodes)-1).Draw(rt, "gone")].Name
			_, _ = trial.Hide(name) // twice is once
		}
		floor := again.Waiting(trial.Trial)
		out, err := trial.PlaceNew(rt.Context(), scheduling.Query{})
		if err != nil {
			rt.Fatal(err)
		}
		if out.Unplaced == 0 && out.NewCost < floor-1e-9 {
			rt.Errorf("new nodes cost %.4f, and the pods are worth %.4f", out.NewCost, floor)
		}
	})
}

// Where nothing has changed prices stay as they were; those from another time are what is known after that, too.
func TestWorthFromTheSamePods(t *testing.T) {
	s := workload.Fleet{Nodes: 40, Fill: 0.4, Mixed: true}.Snapshot()
	m := parts.Compile(t, s)
	w, err := valuing.FindWorth(t.Context(), m.Engine(), scheduling.Query{})
	if err != nil {
		t.Fatal(err)
	}
	known := w.Known()
	again, err := valuing.WorthFrom(t.Context(), m.Engine(), scheduling.Query{}, known)
	if err != nil {
		t.Fatal(err)
	}
	if again.Known() != known {
		t.Fatal("pods were priced again though all are known")
	}
	if math.Abs(again.Total()-w.Total()) > 1e-3*w.Total() {
		t.Errorf("worth %.6f in all, was %.6f", again.Total(), w.Total())
	}
	other := parts.Compile(t, workload.Fleet{Nodes: 40, Fill: 0.4, Seed: 9}.Snapshot())
	if fresh, err := valuing.WorthFrom(t.Context(), other.Engine(), scheduling.Query{}, known); err != nil || fresh.Known() == known {
		t.Errorf("prices of other pods are taken for theirs, or %v", err)
	}
	if none, err := valuing.WorthFrom(t.Context(), m.Engine(), scheduling.Query{}, nil); err != nil || none.Total() != w.Total() {
		t.Errorf("with nothing known pods are not worth what they are, or %v", err)
	}
}
