package global

import (
	"math"
	"testing"
	"time"

	"github.com/drawknife/drawknife/disruption/decision"
	"github.com/drawknife/drawknife/internal/consolidate/reference"
	"github.com/drawknife/drawknife/internal/consolidate/searchcontext"
	"github.com/drawknife/drawknife/internal/consolidate/sighting"
	"github.com/drawknife/drawknife/internal/consolidate/survey"
	"github.com/drawknife/drawknife/internal/engine/valuing"
	"github.com/drawknife/drawknife/internal/fleettest"
)

var noon = time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)

// The sooner of two times counts, but never one that has passed; zero is never.
func TestSoonest(t *testing.T) {
	past, soon, late := noon.Add(-time.Hour), noon.Add(time.Minute), noon.Add(time.Hour)
	for _, c := range []struct {
		name       string
		a, b, want time.Time
	}{
		{"never", time.Time{}, time.Time{}, time.Time{}},
		{"only the second", time.Time{}, soon, soon},
		{"only the first", soon, time.Time{}, soon},
		{"the second is sooner", late, soon, soon},
		{"the first is sooner", soon, late, soon},
		{"the second has passed", late, past, late},
		{"the second is now", time.Time{}, noon, time.Time{}},
	} {
		if got := soonest(noon, c.a, c.b); !got.Equal(c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// A memory serves plans with the same options; how many goroutines a plan may use changes no plan.
func TestMemoryOf(t *testing.T) {
	options := func(change func(*Options)) *Options {
		g := &Options{Parallelism: 2, Work: 5, MinSaving: 0.1}
		change(g)
		return g
	}
	same := options(func(*Options) {})
	m := &Memory{planner: *same, plan: &reference.Plan{}}
	if !m.of(same) || !m.of(options(func(g *Options) { g.Parallelism = 7 })) {
		t.Error("the memory does not serve equal options")
	}
	if m.of(options(func(g *Options) { g.MinSaving = 0.2 })) || m.of(options(func(g *Options) { g.Seed = 1 })) {
		t.Error("the memory serves other options")
	}
	if (*Memory)(nil).of(same) || (&Memory{planner: *same}).of(same) {
		t.Error("nothing is remembered, but serves")
	}
	if m.planner.Parallelism != 2 {
		t.Error("the memory was changed")
	}
}

// A plan holds from the time when it was made until something ends on which it depends.
func TestMemoryHolds(t *testing.T) {
	m := &Memory{plan: &reference.Plan{Time: noon}, until: noon.Add(time.Hour)}
	for at, want := range map[time.Duration]bool{-time.Second: false, 0: true, 59 * time.Minute: true, time.Hour: false, 2 * time.Hour: false} {
		if got := m.holds(noon.Add(at)); got != want {
			t.Errorf("%v after the plan: %v", at, got)
		}
	}
	m.until = time.Time{}
	if !m.holds(noon.Add(1000*time.Hour)) || m.holds(noon.Add(-1)) {
		t.Error("a plan that nothing ends holds for ever, from its time on")
	}
	if (*Memory)(nil).holds(noon) {
		t.Error("no memory holds")
	}
}

// The values of pods are always known; the candidates only in a later fleet.
func TestMemoryKnown(t *testing.T) {
	m := &Memory{plan: &reference.Plan{Time: noon}, worth: &valuing.KnownWorth{}, candidates: candidates()}
	f := fleetAt(t, noon)
	m.sight = sighting.See(f)
	if known := m.known(f); known.Worth != m.worth || len(known.Candidates) != 1 {
		t.Errorf("the same fleet knows %+v", known)
	}
	if known := m.known(fleetAt(t, noon.Add(-time.Second))); known.Worth != m.worth || known.Candidates != nil {
		t.Errorf("an earlier fleet knows %+v", known)
	}
	if known := (*Memory)(nil).known(f); known.Worth != nil || known.Candidates != nil {
		t.Errorf("no memory knows %+v", known)
	}
}

// What a plan reaches is a share of what could be saved.
func TestReach(t *testing.T) {
	plan := &reference.Plan{Cost: 10, Floor: 6, Commands: []*decision.Command{{Savings: 1}, {Savings: 2}}}
	if got := reachOf(plan); math.Abs(got-0.75) > 1e-9 {
		t.Errorf("%v, want 0.75", got)
	}
	if got := reachOf(&reference.Plan{Cost: 6, Floor: 6, Commands: plan.Commands}); got != 0 {
		t.Errorf("%v where nothing can be saved", got)
	}
}

// planOfTwo has two commands, of which the second waits and is in a wave and unsettled.
func planOfTwo() *reference.Plan {
	first := &decision.Command{Method: decision.MethodEmptiness, Planned: noon, NotBefore: noon, Members: []decision.Member{{Node: "a"}}}
	second := &decision.Command{Method: decision.MethodDrift, Planned: noon, NotBefore: noon.Add(15 * time.Second), Members: []decision.Member{{Node: "b"}}}
	reference.Identify(first)
	reference.Identify(second)
	return &reference.Plan{
		Time: noon, Commands: []*decision.Command{first, second}, Unsettled: []string{second.ID},
		Verdicts: []decision.Verdict{{Node: "a", Command: first.ID}, {Node: "b", Command: second.ID}, {Node: "c"}},
		Waves:    []decision.Wave{{Commands: []string{first.ID}}, {Commands: []string{second.ID}}},
	}
}

// The same plan at another time has commands with other times and IDs, by which verdicts and waves know them; the plan itself stays.
func TestMadeAt(t *testing.T) {
	plan, later := planOfTwo(), noon.Add(time.Minute)
	ids := []string{plan.Commands[0].ID, plan.Commands[1].ID}
	got := madeAt(plan, later)
	for i, cmd := range got.Commands {
		if cmd == plan.Commands[i] || cmd.ID == ids[i] || !cmd.Planned.Equal(later) || cmd.NotBefore.Sub(cmd.Planned) != plan.Commands[i].NotBefore.Sub(noon) {
			t.Errorf("command %d is %+v", i, cmd)
		}
		if got.Verdicts[i].Command != cmd.ID || got.Waves[i].Commands[0] != cmd.ID {
			t.Errorf("command %d is %s: verdict %s, wave %v", i, cmd.ID, got.Verdicts[i].Command, got.Waves[i].Commands)
		}
	}
	if !got.Time.Equal(later) || got.Verdicts[2].Command != "" || got.Unsettled[0] != got.Commands[1].ID {
		t.Errorf("the plan is %+v", got)
	}
	if plan.Commands[0].ID != ids[0] || plan.Verdicts[0].Command != ids[0] || plan.Waves[1].Commands[0] != ids[1] || plan.Unsettled[0] != ids[1] || !plan.Commands[1].Planned.Equal(noon) {
		t.Errorf("the first plan was changed: %+v", plan)
	}
	if same := madeAt(plan, noon); same.Commands[0] == plan.Commands[0] || same.Commands[0].ID != ids[0] || same.Verdicts[1].Command != ids[1] {
		t.Errorf("at the same time the plan is %+v", same)
	}
}

// Another sighting keeps all that is remembered.
func TestSeeing(t *testing.T) {
	m := &Memory{
		planner: Options{Seed: 3}, plan: planOfTwo(), until: noon, candidates: candidates(), why: map[string]*decision.Block{"a": {}},
		worth: &valuing.KnownWorth{}, looked: 4, reach: 0.5,
	}
	got := m.seeing(sighting.See(fleetAt(t, noon)))
	if got.planner.Seed != 3 || got.plan != m.plan || !got.until.Equal(noon) || len(got.candidates) != 1 || len(got.why) != 1 || got.worth != m.worth ||
		got.Looked() != 4 || got.reach != 0.5 {
		t.Errorf("%+v", got)
	}
}

func candidates() map[string]*searchcontext.Candidate {
	return map[string]*searchcontext.Candidate{"a": {}}
}

// fleetAt has two nodes, each of which has room for the pods of the other.
func fleetAt(t *testing.T, now time.Time) *survey.Fleet {
	t.Helper()
	f := fleettest.New()
	f.Snapshot.Time = now
	f.Node("a", "c4", fleettest.Pods("p", 1, "1")...)
	f.Node("b", "c4", fleettest.Pods("q", 1, "1")...)
	return f.Survey(t)
}
