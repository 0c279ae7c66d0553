package newnodes_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/drawknife/drawknife/internal/engine/newnodes"
	"github.com/drawknife/drawknife/internal/engine/trial"
	"github.com/drawknife/drawknife/internal/engine/valuing"
	"github.com/drawknife/drawknife/internal/parts"
	"github.com/drawknife/drawknife/internal/seeded"
	"github.com/drawknife/drawknife/internal/trialtest"
	"github.com/drawknife/drawknife/scheduling"
)

// What a trial remembers of which nodes would do in place of a new one is what it would find, whatever was placed and undone before:
// rules go by which domains have nodes.
func TestTrialRemembersWhichNodesWouldDo(t *testing.T) {
	looked := 0
	seeded.Check(t, func(rt *rapid.T) {
		s := parts.RandomRuledSnapshot(rt)
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
			known, differs := allowedTypesAgree(trial.Trial)
			if looked += known; differs >= 0 {
				rt.Fatalf("new node %d: what is remembered is not what is found:\n%s", differs, parts.Text(rt, trial.Placed()))
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
				parts.MustRollback(rt, trial, mark)
				agree()
			}
		}
	})
	if looked == 0 {
		t.Error("nothing was looked up")
	}
}

// allowedTypesAgree compares what the trial remembers of which nodes would do in place of new ones with what it finds; it reports how many
// new nodes were looked up, and the number of the first that differs, -1 for none.
func allowedTypesAgree(t *trial.Trial) (known, differs int) {
	n := newnodes.Of(t)
	for i, load := range t.S.Placed.Loads(0) {
		mc := &t.S.Planned[i]
		if len(load) == 0 {
			continue
		}
		if t.Types.ByText[string(n.AllowedText(t.M.Pools[mc.Pool], [3]int32{mc.Pool, mc.Row, mc.Slot}, load))].Rows != nil {
			known++
		}
		rows, slots, claim := n.Allowed(mc, load)
		wantRows, wantSlots, wantClaim := n.FindAllowed(mc, load)
		if !slices.Equal(rows, wantRows) || !slices.Equal(slots, wantSlots) || !claim.Equal(wantClaim) || claim.String() != wantClaim.String() {
			return known, i
		}
	}
	return known, -1
}
