package disruption_test

import (
	"testing"
	"time"

	"github.com/drawknife/drawknife/disruption"
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
			f, l := w.ledger(t)
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
	f, l := w.ledger(t)
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
	f, l := w.ledger(t)
	// Until 10:30 the day, and the pods too: three of the four that went must be an hour ago, the third went at 9:30.
	got := l.NextWindow(f.Candidate("n"), disruption.ReasonUnderutilized)
	if !got.Start.Equal(now().Add(30*time.Minute)) || got.Block.Detail != "pods" {
		t.Errorf("%s, %v", got.Start, got.Block)
	}
	w.input.History[2].Time = now().Add(-20 * time.Minute)
	f, l = w.ledger(t)
	if got := l.NextWindow(f.Candidate("n"), disruption.ReasonUnderutilized); !got.Start.Equal(now().Add(40 * time.Minute)) {
		t.Errorf("one that went later: %s", got.Start)
	}
}
