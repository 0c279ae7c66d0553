package launching_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/drawknife/drawknife/internal/engine/launching"
	"github.com/drawknife/drawknife/internal/engine/valuing"
	"github.com/drawknife/drawknife/internal/parts"
	"github.com/drawknife/drawknife/internal/seeded"
	"github.com/drawknife/drawknife/internal/trialtest"
	"github.com/drawknife/drawknife/scheduling"
)

// A trial that recalls answers does what one without does, whatever was done and undone before: rules, limits of pools, reservations and
// which new nodes are there decide what an answer depends on.
func TestTrialRecallsWhatItWouldFind(t *testing.T) {
	recalled := 0
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
		r := &recalling{rt: rt, s: s, w: w, answers: launching.NewAnswers(m.Engine(), w, q), trials: [2]*trialtest.Trial{trialtest.New(m.Engine()), trialtest.New(m.Engine())}}
		r.trials[1].Recall(r.answers)
		for range rapid.IntRange(1, 12).Draw(rt, "steps") {
			r.step(q)
		}
		recalled += r.asked - r.answers.Len()
	})
	if recalled == 0 {
		t.Error("no question was asked twice")
	}
}

// recalling does everything on two trials, of which the second recalls answers.
type recalling struct {
	rt      *rapid.T
	s       *scheduling.Snapshot
	w       *valuing.Worth
	answers *launching.Answers
	trials  [2]*trialtest.Trial
	marks   [][2]trialtest.Mark
	asked   int
}

// each does it on both.
func (r *recalling) each(do func(*trialtest.Trial) string) {
	r.rt.Helper()
	if a, b := do(r.trials[0]), do(r.trials[1]); a != b {
		r.rt.Fatalf("recalled it comes to something else:\n%s", cmp.Diff(a, b))
	}
}

func (r *recalling) step(q scheduling.Query) {
	rt := r.rt
	r.marks = append(r.marks, [2]trialtest.Mark{r.trials[0].Mark(), r.trials[1].Mark()})
	for range rapid.IntRange(0, 2).Draw(rt, "nodes") {
		if len(r.s.Nodes) > 0 {
			name := r.s.Nodes[rapid.IntRange(0, len(r.s.Nodes)-1).Draw(rt, "node")].Name
			r.each(func(t *trialtest.Trial) string { pods, err := t.Hide(name); return fmt.Sprint(pods, err) })
		}
	}
	if n := r.trials[0].NewNodes(); n > 0 && rapid.Bool().Draw(rt, "drop") {
		filled := r.trials[0].Filled(0)
		if len(filled) > 0 {
			at := rapid.IntRange(0, len(filled)-1).Draw(rt, "new node")
			r.each(func(t *trialtest.Trial) string { pods, err := t.Drop(t.Filled(0)[at]); return fmt.Sprint(pods, err) })
		}
	}
	most, below := rapid.IntRange(1, 4).Draw(rt, "most"), rapid.SampledFrom([]float64{0.5, 5, 1e6}).Draw(rt, "below")
	how := rapid.IntRange(0, 2).Draw(rt, "launch")
	r.asked++
	r.each(func(t *trialtest.Trial) string {
		switch how {
		case 0:
			price, ok := t.LaunchSome(q, r.w, most, below)
			return fmt.Sprint(price, ok)
		case 1:
			price, ok := t.LaunchLeast(q, r.w, most, 10, below)
			return fmt.Sprint(price, ok)
		}
		out, err := t.PlaceNew(rt.Context(), q)
		return fmt.Sprintf("%+v, %v", out, err)
	})
	r.each(func(t *trialtest.Trial) string { return parts.Text(rt, t.Placed()) })
	if rapid.Bool().Draw(rt, "back") {
		at := rapid.IntRange(0, len(r.marks)-1).Draw(rt, "to")
		parts.MustRollback(rt, r.trials[0], r.marks[at][0])
		parts.MustRollback(rt, r.trials[1], r.marks[at][1])
		r.marks = r.marks[:at]
		r.each(func(t *trialtest.Trial) string { return parts.Text(rt, t.Placed()) })
	}
}

// A question asked again is looked up: which nodes pods come from makes no difference. So is that there is no answer.
func TestAnswersAreLookedUp(t *testing.T) {
	spread := parts.SpreadBy(parts.ZoneKey, 1, "s")
	m := parts.Compile(t, parts.Cluster(parts.Node("a", parts.Bound(parts.Pods("p", 2, parts.Requests("cpu=3"))...)), parts.Node("b", parts.Bound(parts.Pods("q", 2, parts.Requests("cpu=3"))...)),
		parts.Node("c", parts.InZone("a"), parts.Bound(parts.Pod("s", parts.Labelled("s"), spread))), parts.Node("d", parts.InZone("b"), parts.Bound(parts.Pod("r", parts.Labelled("s"), spread)))))
	w, err := valuing.FindWorth(t.Context(), m.Engine(), scheduling.Query{})
	if err != nil {
		t.Fatal(err)
	}
	answers := launching.NewAnswers(m.Engine(), w, scheduling.Query{})
	for i, step := range []struct {
		query scheduling.Query
		below float64
		nodes []string
		known int
	}{
		{scheduling.Query{}, 1e6, []string{"a"}, 1}, {scheduling.Query{}, 1e6, []string{"a"}, 1}, {scheduling.Query{}, 1e6, []string{"b"}, 1},
		{scheduling.Query{}, 1e6, []string{"a", "b"}, 2}, {scheduling.Query{}, 1e6, []string{"b", "a"}, 2},
		{scheduling.Query{}, 1e-6, []string{"a"}, 3}, {scheduling.Query{}, 1e-6, []string{"b"}, 3},
		{scheduling.Query{}, 1e6, []string{"c"}, 4}, {scheduling.Query{}, 1e6, []string{"d"}, 5}, // the other member is elsewhere
		{scheduling.Query{Effort: scheduling.EffortFast}, 1e6, []string{"a"}, 5}, // is none of the questions
	} {
		trial := trialtest.New(m.Engine())
		trial.Recall(answers)
		for _, name := range step.nodes {
			parts.MustHide(t, trial, name)
		}
		trial.LaunchSome(step.query, w, 4, step.below)
		if got := answers.Len(); got != step.known {
			t.Errorf("step %d: %d answers are remembered, want %d", i, got, step.known)
		}
	}
	other := trialtest.New(parts.Compile(t, parts.Cluster(parts.Node("a", parts.Bound(parts.Pod("p"))))).Engine())
	other.Recall(answers)
	parts.MustHide(t, other, "a")
	if other.LaunchSome(scheduling.Query{}, w, 4, 1e6); answers.Len() != 5 {
		t.Error("a trial of another model keeps its answers there")
	}
}
