package launching_test

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/drawknife/drawknife/internal/engine/valuing"
	"github.com/drawknife/drawknife/internal/parts"
	"github.com/drawknife/drawknife/internal/seeded"
	"github.com/drawknife/drawknife/internal/trialtest"
	"github.com/drawknife/drawknife/scheduling"
)

// A clone comes to the same as its trial, whatever was done before and is done to both after; what is done to other clones meanwhile
// changes neither.
func TestTrialCloneDoesTheSame(t *testing.T) {
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
		first := trialtest.New(m.Engine())
		names := make([]string, len(s.Nodes))
		for i := range names {
			names[i] = s.Nodes[i].Name
		}
		if err := first.Rank(names); err != nil {
			rt.Skip(err) // two nodes of a name
		}
		r := &recalling{rt: rt, s: s, w: w, trials: [2]*trialtest.Trial{first, first.Clone()}}
		for range rapid.IntRange(1, 3).Draw(rt, "clones") {
			for range rapid.IntRange(1, 4).Draw(rt, "steps") {
				r.step(q)
				r.each(func(t *trialtest.Trial) string { return fmt.Sprint(t.Move(q), t.Fill(q), t.Coined()) })
			}
			r.trials[1], r.marks = first.Clone(), nil
			r.each(func(t *trialtest.Trial) string { return parts.Text(rt, parts.PlanIn(rt, t)) })
			alone := &recalling{rt: rt, s: s, w: w, trials: [2]*trialtest.Trial{first.Clone(), r.trials[1].Clone()}}
			alone.step(q)
			alone.each(func(t *trialtest.Trial) string { return fmt.Sprint(t.Move(q)) })
			r.each(func(t *trialtest.Trial) string { return parts.Text(rt, parts.PlanIn(rt, t)) })
		}
	})
}
