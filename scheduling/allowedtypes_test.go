package scheduling_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/drawknife/drawknife/internal/engine/valuing"
	"github.com/drawknife/drawknife/internal/seeded"
	"github.com/drawknife/drawknife/internal/trialtest"
	"github.com/drawknife/drawknife/scheduling"
)

// What a trial remembers of which nodes would do in place of a new one is what it would find, whatever was placed and undone before:
// rules go by which domains have nodes.
func TestTrialRemembersWhichNodesWouldDo(t *testing.T) {
	looked := 0
	seeded.Check(t, func(rt *rapid.T) {
		s := randomRuledSnapshot(rt)
		m, err := scheduling.Compile(s)
		if err != nil {
			rt.Skip(err)
		}
		q := scheduling.Query{}
		w, err := valuing.FindWorth(rt.Context(), m.Engine(), q)
		if err != nil {
			rt.Fatal(err)
		}
		trial := trialtest.New(m.Engine())
		agree := func() {
			known, differs := scheduling.AllowedTypesAgree(trial.Trial)
			if looked += known; differs >= 0 {
				rt.Fatalf("new node %d: what is remembered is not what is found:\n%s", differs, text(rt, trial.Placed()))
			}
		}
		for range rapid.IntRange(1, 10).Draw(rt, "steps") {
			mark := trial.Mark()
			if len(s.Nodes) > 0 && rapid.Bool().Draw(rt, "hide") {
				trial.Hide(s.Nodes[rapid.IntRange(0, len(s.Nodes)-1).Draw(rt, "node")].Name)
			}
			if rapid.Bool().Draw(rt, "some") {
				trial.LaunchSome(q, w, 4, 1e6)
			} else if _, err := trial.PlaceNew(rt.Context(), q); err != nil {
				rt.Fatal(err)
			}
			agree()
			if rapid.Bool().Draw(rt, "back") {
				mustRollback(rt, trial, mark)
				agree()
			}
		}
	})
	if looked == 0 {
		t.Error("nothing was looked up")
	}
}
