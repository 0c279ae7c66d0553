package disruption_test

import (
	"testing"
	"time"

	"github.com/drawknife/drawknife/disruption"
	"github.com/drawknife/drawknife/scheduling/cluster"
)

// DIS-174, DIS-175, DIS-176, DIS-177, DIS-081, DIS-105, DIS-112, DIS-115, DIS-122: when planning again is of no use.
func TestIdle(t *testing.T) {
	nothing := &disruption.Plan{Time: now()}
	for _, tt := range []struct {
		name     string
		plan     *disruption.Plan
		revision uint64
		at       time.Duration
		want     time.Duration
	}{
		{"nothing to do", nothing, 7, time.Minute, 4 * time.Minute},
		{"five minutes later", nothing, 7, 5 * time.Minute, 0},
		{"something has changed", nothing, 8, time.Minute, 0},
		{"budgets were in the way", &disruption.Plan{Time: now(), Waiting: true}, 7, time.Minute, 0},
		{"something was done", &disruption.Plan{Time: now(), Commands: []*disruption.Command{{}}}, 7, time.Minute, 0},
		{"a waiting time ends", &disruption.Plan{Time: now(), Again: now().Add(2 * time.Minute)}, 7, time.Minute, time.Minute},
	} {
		var i disruption.Idle
		if i.Wait(7, now()) != 0 {
			t.Error("it waits before anything was planned")
		}
		i.Note(tt.plan, 7)
		if got := i.Wait(tt.revision, now().Add(tt.at)); got != tt.want {
			t.Errorf("%s: wait %s, want %s", tt.name, got, tt.want)
		}
		if i.Forget(); i.Wait(tt.revision, now().Add(tt.at)) != 0 {
			t.Errorf("%s: it waits after Forget", tt.name)
		}
	}
}

// DIS-005, DIS-174: a nomination that ends shows in nothing else, so that a plan is made again when it does.
func TestPlanAgainWhenANominationEnds(t *testing.T) {
	for name, planner := range map[string]disruption.Planner{"reference": &disruption.Reference{}, "global": &disruption.Global{}} {
		w := newWorld()
		w.node("n", "c4")
		ends := now().Add(20 * time.Second)
		w.nodeState("n", func(m *cluster.NodeState) { m.NominatedUntil = ends })
		p, err := planner.Plan(t.Context(), w.fleet(t))
		if err != nil {
			t.Fatal(err)
		}
		if len(p.Commands) != 0 || !p.Again.Equal(ends) {
			t.Errorf("%s: %d commands, again at %s, want none and %s", name, len(p.Commands), p.Again, ends)
		}
	}
}
