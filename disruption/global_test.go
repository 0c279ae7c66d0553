package disruption_test

import (
	"testing"

	"github.com/drawknife/drawknife/disruption"
)

// referenceOf is Reference with no more holding it back than thrifty.
func referenceOf() *disruption.Reference {
	return &disruption.Reference{SpotToSpot: true, SpotToSpotTypes: 1, ValidationDelay: -1}
}

// Fleets that are two fifths full come to cost less by one plan, and in three rounds no more than what Karpenter's methods
// come to in the end.
func TestGlobalFleets(t *testing.T) {
	specs := []fleetSpec{{nodes: 10, fill: 0.4}, {nodes: 10, fill: 0.4, mixed: true}}
	if !testing.Short() {
		specs = append(specs, fleetSpec{nodes: 25, fill: 0.4}, fleetSpec{nodes: 15, fill: 0.6, mixed: true})
	}
	for _, spec := range specs {
		t.Run(spec.String(), func(t *testing.T) {
			s := spec.snapshot()
			before := costOf(t, s)
			once, _, movedOnce := rounds(t, thrifty(), s, 1, false)
			last, n, moved := rounds(t, thrifty(), s, 3, false)
			want, commands, movedBy := rounds(t, referenceOf(), s, 100, false)
			got, ref := costOf(t, last), costOf(t, want)
			t.Logf("%.3f USD/h: one plan %.3f (%d moved), %d rounds %.3f (%d moved), reference %.3f (%d moved) in %d",
				before, costOf(t, once), movedOnce, n, got, moved, ref, movedBy, commands)
			if got > ref+1e-9 {
				t.Errorf("it ends at %.4f USD/h, Reference at %.4f", got, ref)
			}
		})
	}
}

// A fleet that nothing happens to is at rest after three rounds.
func TestGlobalComesToRest(t *testing.T) {
	for _, spec := range []fleetSpec{{nodes: 10, fill: 0.4}, {nodes: 10, fill: 0.4, mixed: true}, {nodes: 60, fill: 0.4}} {
		t.Run(spec.String(), func(t *testing.T) {
			planner := &disruption.Global{CoolDown: -1, SpotToSpot: true, ValidationDelay: -1}
			if _, n, _ := rounds(t, planner, spec.snapshot(), 4, false); n > 3 {
				t.Errorf("the fourth plan still has commands")
			}
		})
	}
}
