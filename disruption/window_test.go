package disruption_test

import (
	"context"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/drawknife/drawknife/disruption"
	"github.com/drawknife/drawknife/internal/seeded"
)

// When may this node go, and what stands in the way?
func TestNextWindow(t *testing.T) {
	night := calendar(t, "0 8 * * *", 9*time.Hour, "")
	evening := calendar(t, "0 17 * * *", 2*time.Hour, "")
	none := disruption.Budget{Name: "day", Unit: disruption.UnitNodes, Calendar: night}
	tests := []struct {
		name    string
		budgets []disruption.Budget
		history []disruption.Disruption
		fill    func(*world)
		start   time.Time
		block   string
	}{
		{"now", nil, nil, nil, now(), ""},
		{"when the window closes", []disruption.Budget{none}, nil, nil, now().Add(7 * time.Hour), "day"},
		{"another opens then", []disruption.Budget{none, {Name: "evening", Unit: disruption.UnitNodes, Calendar: evening}}, nil, nil, now().Add(9 * time.Hour), "day"},
		{"never", []disruption.Budget{{Name: "stop", Unit: disruption.UnitNodes}}, nil, nil, time.Time{}, "stop"},
		{"what is under way has no end in sight", []disruption.Budget{{Name: "one", Unit: disruption.UnitNodes, Amount: 1}}, nil,
			func(w *world) { w.node("x", "c4", leaving) }, time.Time{}, "one"},
		{"a rate gets room", []disruption.Budget{{Name: "rate", Unit: disruption.UnitNodes, Amount: 1, Window: time.Hour}},
			[]disruption.Disruption{{Time: now().Add(-20 * time.Minute), Reason: disruption.ReasonEmpty}}, nil, now().Add(40 * time.Minute), "rate"},
		{"a rate that one node exceeds", []disruption.Budget{{Name: "rate", Unit: disruption.UnitNodes, Amount: 0, Window: time.Hour}}, nil, nil, time.Time{}, "rate"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld()
			w.node("n", "c4")
			if tt.fill != nil {
				tt.fill(w)
			}
			w.input.Budgets, w.input.History = tt.budgets, tt.history
			f, l := w.tracker(t)
			got := l.NextWindow(f.Candidate("n"), disruption.ReasonEmpty)
			name := ""
			if got.Block != nil {
				name = got.Block.Detail
			}
			if !got.Start.Equal(tt.start) || name != tt.block {
				t.Errorf("%s, blocked by %q; want %s, %q", got.Start, name, tt.start, tt.block)
			}
		})
	}
}

// What another took of a rate just now is free again when its time is over; who has taken may go. A node on its way out is none
// that was started in the time, unless the history says so.
func TestNextWindowAfterTake(t *testing.T) {
	w := newWorld()
	w.fill("n", 2)
	w.node("old", "c4", leaving)
	w.input.Budgets = []disruption.Budget{{Name: "rate", Unit: disruption.UnitNodes, Amount: 1, Window: time.Hour}}
	f, l := w.tracker(t)
	if why := l.Take(f.Candidate("n-00"), disruption.ReasonEmpty); why != nil {
		t.Fatal(why)
	}
	if got := l.NextWindow(f.Candidate("n-00"), disruption.ReasonEmpty); !got.Start.Equal(now()) || got.Block != nil {
		t.Errorf("the one that was taken: %+v", got)
	}
	if got := l.NextWindow(f.Candidate("n-01"), disruption.ReasonEmpty); !got.Start.Equal(now().Add(time.Hour)) || got.Block == nil {
		t.Errorf("the other: %+v", got)
	}
}

// The latest of several budgets decides, and a rate that takes several starts to leave its window.
func TestNextWindowOfSeveral(t *testing.T) {
	w := newWorld()
	w.node("n", "c4", holding(pods("p", 3, "1")...))
	w.input.Budgets = []disruption.Budget{
		{Name: "pods", Unit: disruption.UnitPods, Amount: 4, Window: time.Hour},
		{Name: "day", Unit: disruption.UnitNodes, Calendar: calendar(t, "0 8 * * *", 150*time.Minute, "")},
	}
	for _, ago := range []time.Duration{50, 40, 30, 20} {
		w.input.History = append(w.input.History, disruption.Disruption{Time: now().Add(-ago * time.Minute), Reason: disruption.ReasonEmpty, Pods: 1})
	}
	f, l := w.tracker(t)
	// Until 10:30 the day, and the pods too: three of the four that went must be an hour ago, the third went at 9:30.
	got := l.NextWindow(f.Candidate("n"), disruption.ReasonUnderutilized)
	if !got.Start.Equal(now().Add(30*time.Minute)) || got.Block.Detail != "pods" {
		t.Errorf("%s, %v", got.Start, got.Block)
	}
	w.input.History[2].Time = now().Add(-20 * time.Minute)
	f, l = w.tracker(t)
	if got := l.NextWindow(f.Candidate("n"), disruption.ReasonUnderutilized); !got.Start.Equal(now().Add(40 * time.Minute)) {
		t.Errorf("one that went later: %s", got.Start)
	}
}

// A budget refuses until just the moment that it says: a rate until enough of what was started is forgotten, a calendar until it
// closes, both until the earlier of the two. What has no such moment still refuses much later.
func TestBudgetRefusesUntil(t *testing.T) {
	minutes := func(rt *rapid.T, label string, least, most int) time.Duration {
		return time.Duration(rapid.IntRange(least, most).Draw(rt, label)) * time.Minute
	}
	calendars := map[string]*disruption.Calendar{
		"always": nil, "day": calendar(t, "0 8 * * *", 9*time.Hour, ""), "hour": calendar(t, "50 9 * * *", time.Hour, ""),
		"overlapping": calendar(t, "0 * * * *", 61*time.Minute, ""), "zone": calendar(t, "0 7 * * *", 6*time.Hour, "Europe/Berlin"),
	}
	seeded.Check(t, func(rt *rapid.T) {
		var history []disruption.Disruption
		for range rapid.IntRange(0, 6).Draw(rt, "started") {
			history = append(history, disruption.Disruption{
				Time: now().Add(-minutes(rt, "ago", 0, 100)), Reason: disruption.ReasonEmpty, Pods: rapid.IntRange(0, 2).Draw(rt, "pods"),
			})
		}
		budget := disruption.Budget{
			Name: "rate", Unit: rapid.SampledFrom([]disruption.Unit{disruption.UnitNodes, disruption.UnitPods}).Draw(rt, "unit"),
			Amount: float64(rapid.IntRange(0, 5).Draw(rt, "amount")), Window: minutes(rt, "window", 0, 90),
			Calendar: calendars[rapid.SampledFrom([]string{"always", "day", "hour", "overlapping", "zone"}).Draw(rt, "calendar")],
		}
		tracker := func(at time.Time, history []disruption.Disruption) (*disruption.Fleet, *disruption.BudgetTracker) {
			w := newWorld()
			w.node("n", "c4", holding(pods("p", 2, "1")...))
			w.node("m", "c4", holding(pods("q", 1, "1")...))
			w.snapshot.Time, w.input.History, w.input.Budgets = at, history, []disruption.Budget{budget}
			return w.tracker(t)
		}
		f, l := tracker(now(), history)
		m := f.Candidate("m")
		taken := rapid.Bool().Draw(rt, "another is taken") && l.Take(m, disruption.ReasonUnderutilized) == nil
		if taken {
			history = append(history, disruption.DisruptionOf(m, disruption.ReasonUnderutilized, now()))
		}
		why := l.Blocks(f.Candidate("n"), disruption.ReasonUnderutilized)
		if why == nil {
			return
		}
		free := func(at time.Time) bool {
			f, l := tracker(at, history)
			if taken && budget.Window == 0 { // it is under way still
				l.Take(m, disruption.ReasonUnderutilized)
			}
			return l.Blocks(f.Candidate("n"), disruption.ReasonUnderutilized) == nil
		}
		switch {
		case why.Until.IsZero():
			if late := now().Add(1000 * time.Hour); free(late) {
				rt.Fatalf("%s, and at %s it is free", why, late)
			}
		case free(why.Until.Add(-time.Nanosecond)):
			rt.Fatalf("%s: it is free before that", why)
		case !free(why.Until):
			rt.Fatalf("%s: it is not free then", why)
		}
	})
}

// A plan that a rate holds up is made again when the rate has room, not before and not much later, although nothing happens.
func TestPlanWaitsForRate(t *testing.T) {
	for name, plan := range map[string]func(*disruption.Fleet) (*disruption.Plan, error){
		"reference": func(f *disruption.Fleet) (*disruption.Plan, error) {
			return (&disruption.Reference{}).Plan(context.Background(), f)
		},
		"global": func(f *disruption.Fleet) (*disruption.Plan, error) {
			return (&disruption.Global{}).Plan(context.Background(), f)
		},
	} {
		t.Run(name, func(t *testing.T) {
			clock, free := now(), now().Add(25*time.Minute)
			passes := 0
			for ; passes < 10; passes++ {
				w := newWorld()
				w.node("n", "c4")
				w.snapshot.Time = clock
				w.input.Budgets = []disruption.Budget{{Name: "rate", Unit: disruption.UnitNodes, Amount: 1, Window: time.Hour}}
				w.input.History = []disruption.Disruption{{Node: "gone", Time: now().Add(-35 * time.Minute), Reason: disruption.ReasonEmpty}}
				p, err := plan(w.fleet(t))
				if err != nil {
					t.Fatal(err)
				}
				if len(p.Commands) > 0 {
					break
				}
				if !p.Again.After(clock) {
					t.Fatalf("at %s nothing goes, and the next plan is due at %s", clock, p.Again)
				}
				clock = p.Again
			}
			if !clock.Equal(free) || passes != 1 {
				t.Errorf("the node goes at %s after %d plans without it; the rate has room at %s", clock, passes, free)
			}
		})
	}
}
