package disruption_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/disruption"
	"github.com/drawknife/drawknife/scheduling"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// Gangs that are disrupted with their parent go together or not at all, each on one node though they are; others of a parent go alone.
func TestGangsOfOneParentAreMovedTogether(t *testing.T) {
	for _, mode := range []planning.GangDisruptionMode{planning.GangDisruptedWithParent, planning.GangDisruptedTogether} {
		w := newWorld()
		w.node("n0", "c4", holding(pod("a-0")), drifted(time.Hour))
		w.node("n1", "c4", holding(pod("b-0")))
		protect(w, 1)
		w.snapshot.Gangs = []scheduling.Gang{gangOf("a", "a-0"), gangOf("b", "b-0")}
		for i := range w.snapshot.Gangs {
			w.snapshot.Gangs[i].Parent, w.snapshot.Gangs[i].DisruptionMode = "all", mode
		}
		want := disruption.BlockCode("")
		if mode == planning.GangDisruptedWithParent {
			want = disruption.BlockGang
		}
		if got := blocked(w.fleet(t), disruption.MethodDrift, "n0"); got != want {
			t.Errorf("%s: the node of the first is kept by %q, want %q", mode, got, want)
		}
	}
}

// A gang of a parent stays in the domain that it shares with the others: it goes to another rack of its zone, not to one of another zone.
func TestGangsOfOneParentStayInItsDomain(t *testing.T) {
	const rack = "example.com/rack"
	for _, shared := range []int{0, 1} {
		for name, planner := range planners() {
			w := newWorld()
			in := func(zone, of string) []nodeOption {
				return []nodeOption{labelled(corev1.LabelTopologyZone, zone), labelled(rack, of)}
			}
			w.node("n0", "c4", append(in("a", "1"), holding(pod("a-0", asks("cpu=1500m")), pod("a-1", asks("cpu=1500m"))), drifted(time.Hour))...)
			w.node("n1", "c4", append(in("a", "2"), holding(pod("b-0", asks("cpu=1500m"), podAnnotated("karpenter.sh/do-not-disrupt", "true"))))...)
			w.node("n2", "c4", append(in("b", "3"), holding(pod("c-0", asks("cpu=500m"), podAnnotated("karpenter.sh/do-not-disrupt", "true"))))...)
			w.snapshot.Gangs = []scheduling.Gang{gangOf("a", "a-0", "a-1"), gangOf("b", "b-0")}
			for i := range w.snapshot.Gangs {
				g := &w.snapshot.Gangs[i]
				g.Parent, g.Shared, g.Topology = "all", shared, []scheduling.GangTopology{{Key: corev1.LabelTopologyZone}, {Key: rack}}
			}
			plan, err := planner.Plan(t.Context(), w.fleet(t))
			if err != nil {
				t.Fatal(err)
			}
			moved := false
			for _, cmd := range plan.Commands {
				for _, r := range cmd.Receivers {
					moved = moved || r.Name == "n2"
				}
			}
			if moved != (shared == 0) {
				t.Errorf("%s, %d shared: moved to the other zone: %v", name, shared, moved)
			}
		}
	}
}
