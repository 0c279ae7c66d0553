package disruption_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"pgregory.net/rapid"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/disruption"
	"github.com/drawknife/drawknife/internal/seeded"
)

// allowed counts how many of the nodes can be taken one after another.
func allowed(f *disruption.Fleet, l *disruption.BudgetTracker, r disruption.Reason) int {
	n := 0
	for _, c := range f.Candidates {
		if l.Take(c, r) == nil {
			n++
		}
	}
	return n
}

func scheduled(b v1.Budget, schedule string, duration time.Duration) v1.Budget {
	d := v1.NewDuration(duration)
	b.Schedule, b.Duration = &schedule, &d
	return b
}

// fill adds n empty nodes named prefix-0 and on.
func (w *world) fill(prefix string, n int, options ...nodeOption) {
	for i := range n {
		w.node(fmt.Sprintf("%s-%02d", prefix, i), "c4", options...)
	}
}

// What budgets of NodePools let go (DIS-198 to DIS-214).
func TestPoolBudgets(t *testing.T) {
	const empty, drift, under = disruption.ReasonEmpty, disruption.ReasonDrifted, disruption.ReasonUnderutilized
	workday := func(b v1.Budget) v1.Budget { return scheduled(b, "0 8 * * mon-fri", 9*time.Hour) }
	tests := []struct {
		name    string
		budgets []v1.Budget
		fill    func(*world)
		at      time.Time
		reason  disruption.Reason
		want    int
	}{
		{"DIS-201 a number", []v1.Budget{{Nodes: "3"}}, nodes(10), now(), empty, 3},
		{"DIS-012 left out it is 10%", nil, nodes(11), now(), empty, 2},
		{"DIS-012 an empty list bounds nothing", []v1.Budget{}, nodes(10), now(), empty, 10},
		{"DIS-209 a share is rounded up", []v1.Budget{{Nodes: "5%"}}, nodes(10), now(), empty, 1},
		{"DIS-209 0% is none", []v1.Budget{{Nodes: "0%"}}, nodes(10), now(), empty, 0},
		{"DIS-319 scenario 5: 25% of ten", []v1.Budget{{Nodes: "25%"}}, nodes(10), now(), empty, 3},
		{"DIS-319 scenario 5: two not ready", []v1.Budget{{Nodes: "25%"}}, func(w *world) { w.fill("n", 8); w.fill("x", 2, notReady) }, now(), empty, 1},
		{"DIS-319 scenario 5: one that is not initialized changes nothing", []v1.Budget{{Nodes: "25%"}},
			func(w *world) {
				w.fill("n", 8)
				w.fill("x", 2, notReady)
				w.node("young", "c4", labelled(v1.NodeInitializedLabelKey, ""))
			}, now(), empty, 1},
		{"DIS-199, DIS-212 neither does one that comes up", []v1.Budget{{Nodes: "50%"}},
			func(w *world) { w.fill("n", 2); w.fill("x", 8, labelled(v1.NodeInitializedLabelKey, "")) }, now(), empty, 1},
		{"DIS-199 nor one whose instance is being ended", []v1.Budget{{Nodes: "50%"}}, func(w *world) {
			w.fill("n", 2)
			for i := range 4 {
				n := w.node(fmt.Sprintf("x-%d", i), "c4", leaving)
				n.Claim.Conditions().SetTrue(v1.ConditionInstanceTerminating, now())
			}
		}, now(), empty, 1},
		{"DIS-214 19 nodes, 20%, one not ready, two draining", []v1.Budget{{Nodes: "20%"}},
			func(w *world) { w.fill("n", 16); w.fill("x", 1, notReady); w.fill("y", 2, leaving) }, now(), empty, 1},
		{"DIS-200 both at once count once", []v1.Budget{{Nodes: "2"}}, func(w *world) { w.fill("n", 5); w.fill("x", 1, notReady, leaving) }, now(), empty, 1},
		{"DIS-214 Monday ten o'clock: Underutilized", []v1.Budget{{Nodes: "10%"}, workday(v1.Budget{Nodes: "0", Reasons: []v1.DisruptionReason{"Underutilized"}})},
			nodes(30), now(), under, 0},
		{"DIS-214 Monday ten o'clock: Drifted", []v1.Budget{{Nodes: "10%"}, workday(v1.Budget{Nodes: "0", Reasons: []v1.DisruptionReason{"Underutilized"}})},
			nodes(30), now(), drift, 3},
		{"DIS-214 at 17:00 sharp", []v1.Budget{{Nodes: "10%"}, workday(v1.Budget{Nodes: "0", Reasons: []v1.DisruptionReason{"Underutilized"}})},
			nodes(30), now().Add(7 * time.Hour), under, 3},
		{"DIS-202 at 08:00 sharp", []v1.Budget{workday(v1.Budget{Nodes: "0"})}, nodes(3), now().Add(-2 * time.Hour), under, 0},
		{"DIS-202 a second before", []v1.Budget{workday(v1.Budget{Nodes: "0"})}, nodes(3), now().Add(-2*time.Hour - time.Second), under, 3},
		{"DIS-202 longer than between hits is always", []v1.Budget{scheduled(v1.Budget{Nodes: "1"}, "@hourly", 2*time.Hour)}, nodes(3), now(), under, 1},
		{"DIS-203 a day that never comes", []v1.Budget{scheduled(v1.Budget{Nodes: "0"}, "0 0 30 2 *", time.Hour)}, nodes(3), now(), under, 3},
		{"DIS-204 the least counts", []v1.Budget{{Nodes: "5"}, {Nodes: "2"}, {Nodes: "1", Reasons: []v1.DisruptionReason{"Drifted"}}}, nodes(9), now(), empty, 2},
		{"DIS-214 other reasons are not bounded", []v1.Budget{{Nodes: "5", Reasons: []v1.DisruptionReason{"Drifted"}}}, nodes(9), now(), empty, 9},
		{"DIS-205 an empty list of reasons is about none", []v1.Budget{{Nodes: "0", Reasons: []v1.DisruptionReason{}}}, nodes(4), now(), empty, 4},
		{"DIS-206 disrupted nodes count whatever for", []v1.Budget{{Nodes: "2", Reasons: []v1.DisruptionReason{"Empty"}}},
			func(w *world) { w.fill("n", 4); w.fill("x", 2, leaving) }, now(), empty, 0},
		{"DIS-206 not below none", []v1.Budget{{Nodes: "1"}}, func(w *world) { w.fill("n", 4); w.fill("x", 3, leaving) }, now(), empty, 0},
		{"DIS-207 unreadable lets nothing go", []v1.Budget{{Nodes: "many"}}, nodes(4), now(), empty, 0},
		{"DIS-207 for its reasons", []v1.Budget{{Nodes: "many", Reasons: []v1.DisruptionReason{"Drifted"}}}, nodes(4), now(), empty, 4},
		{"DIS-207 an unreadable schedule", []v1.Budget{scheduled(v1.Budget{Nodes: "4"}, "now and then", time.Hour)}, nodes(4), now(), empty, 0},
		{"DIS-013 a schedule without a duration", []v1.Budget{{Nodes: "4", Duration: &v1.Duration{Duration: time.Hour}}}, nodes(4), now(), empty, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld()
			w.pool("default", budgets(tt.budgets...))
			if tt.budgets == nil {
				w.pool("default", func(p *v1.NodePool) { p.Spec.Disruption.Budgets = nil })
			}
			w.snapshot.Time = tt.at
			tt.fill(w)
			f, l := w.tracker(t)
			if got := allowed(f, l, tt.reason); got != tt.want {
				t.Errorf("%d may go, want %d; %+v", got, tt.want, l.Uses())
			}
		})
	}
}

func nodes(n int) func(*world) { return func(w *world) { w.fill("n", n) } }

// DIS-200: a budget that nodes use up which are not ready says so: nobody would look for them.
func TestBudgetTellsOfNodesThatAreNotReady(t *testing.T) {
	w := newWorld()
	w.pool("default", budgets(v1.Budget{Nodes: "2"}))
	w.fill("n", 3)
	w.fill("x", 2, notReady)
	f, l := w.tracker(t)
	b := l.Take(f.Candidates[0], disruption.ReasonEmpty)
	if b == nil || b.Disrupted != 2 || !strings.HasSuffix(b.String(), "allows 2 and 2 are in use, 2 by nodes that are not ready or on their way out") {
		t.Errorf("%+v %s", b, b)
	}
}

// DIS-198: budgets are per pool. DIS-002: nodes without a claim are not part of any.
func TestPoolBudgetsArePerPool(t *testing.T) {
	w := newWorld()
	w.pool("default", budgets(v1.Budget{Nodes: "50%"}))
	w.pool("other", budgets(v1.Budget{Nodes: "1"}))
	w.fill("n", 2)
	w.fill("o", 3, ofPool("other"))
	for i := range 4 {
		n := w.node(fmt.Sprintf("u-%d", i), "c4")
		n.Claim = nil
	}
	f, l := w.tracker(t)
	if got := allowed(f, l, disruption.ReasonEmpty); got != 2 {
		t.Errorf("%d may go, want one of each pool", got)
	}
}

// A budget says its name, what it allows, and until when.
func TestBudgetBlock(t *testing.T) {
	w := newWorld()
	w.pool("default", budgets(scheduled(v1.Budget{Nodes: "0"}, "0 8 * * *", 9*time.Hour)))
	w.fill("n", 1)
	f, l := w.tracker(t)
	why := l.Take(f.Candidates[0], disruption.ReasonEmpty)
	want := "spec.disruption.budgets[0] of nodepool default allows 0 and 0 are in use until 2026-05-04T17:00:00Z"
	if why == nil || why.String() != want {
		t.Errorf("%v, want %s", why, want)
	}
	if got := l.Blocks(f.Candidates[0], disruption.ReasonEmpty); got == nil || got.String() != want {
		t.Errorf("asked: %v", got)
	}
	if why := l.Take(f.Candidates[0], disruption.ReasonExpired); why != nil {
		t.Errorf("what must go is held: %v", why)
	}
}

// DIS-210: what is taken is used up until it is given back; all are taken or none.
func TestBudgetTrackerTakesAndReturns(t *testing.T) {
	w := newWorld()
	w.pool("default", budgets(v1.Budget{Nodes: "2"}))
	w.fill("n", 3)
	f, l := w.tracker(t)
	if c, why := l.TakeAll(f.Candidates, disruption.ReasonEmpty); why == nil || c.Name != "n-02" {
		t.Fatalf("three were taken of two: %v %v", c, why)
	}
	if uses := l.Uses(); uses[0].InUse != 0 {
		t.Fatalf("after a refusal something is still taken: %+v", uses)
	}
	if _, why := l.TakeAll(f.Candidates[:2], disruption.ReasonEmpty); why != nil {
		t.Fatal("two of two:", why)
	}
	if why := l.Take(f.Candidates[0], disruption.ReasonDrifted); why != nil {
		t.Error("a node that is taken is refused:", why)
	}
	if l.Take(f.Candidates[2], disruption.ReasonEmpty) == nil {
		t.Error("a third was taken")
	}
	l.Return("n-00")
	l.Return("n-00")
	if why := l.Take(f.Candidates[2], disruption.ReasonEmpty); why != nil {
		t.Error("what was given back is not there:", why)
	}
}

// Budgets beyond those of pools: scope, unit, window.
func TestBudgetAlgebra(t *testing.T) {
	zone := func(z string) nodeOption { return labelled(corev1.LabelTopologyZone, z) }
	fleet := func(w *world) {
		w.pool("other")
		w.node("a1", "c4", holding(pods("p", 2, "1")...), labelled("team", "red"))
		w.node("a2", "c4", holding(pods("q", 2, "1")...))
		w.node("b1", "c8", zone("b"), holding(pods("r", 1, "1")...), labelled("team", "red"))
		w.node("b2", "c8", zone("b"), ofPool("other"))
	}
	tests := []struct {
		name    string
		budget  disruption.Budget
		history []disruption.Disruption
		want    string
	}{
		{"cluster", disruption.Budget{Unit: disruption.UnitNodes, Amount: 1}, nil, "a1"},
		{"share of the cluster", disruption.Budget{Unit: disruption.UnitNodes, Amount: 30, Percent: true}, nil, "a1 a2"},
		{"zone", disruption.Budget{Unit: disruption.UnitNodes, Amount: 1, Scope: disruption.Scope{Zone: "b"}}, nil, "a1 a2 b1"},
		{"pool", disruption.Budget{Unit: disruption.UnitNodes, Amount: 0, Scope: disruption.Scope{Pool: v1.NewPoolKey("other")}}, nil, "a1 a2 b1"},
		{"label", disruption.Budget{Unit: disruption.UnitNodes, Amount: 1, Scope: disruption.Scope{Labels: labels.SelectorFromSet(labels.Set{"team": "red"})}}, nil, "a1 a2 b2"},
		{"pods", disruption.Budget{Unit: disruption.UnitPods, Amount: 3}, nil, "a1 b1 b2"},
		{"share of pods", disruption.Budget{Unit: disruption.UnitPods, Amount: 50, Percent: true}, nil, "a1 b1 b2"},
		{"money", disruption.Budget{Unit: disruption.UnitPrice, Amount: 0.8}, nil, "a1 a2 b1"},
		{"share of money", disruption.Budget{Unit: disruption.UnitPrice, Amount: 50, Percent: true}, nil, "a1 a2"},
		{"other reasons", disruption.Budget{Unit: disruption.UnitNodes, Reasons: []disruption.Reason{disruption.ReasonDrifted}}, nil, "a1 a2 b1 b2"},
		{"no reasons", disruption.Budget{Unit: disruption.UnitNodes, Reasons: []disruption.Reason{}}, nil, "a1 a2 b1 b2"},
		{"rate", disruption.Budget{Unit: disruption.UnitNodes, Amount: 3, Window: time.Hour}, []disruption.Disruption{
			{Node: "x", Time: now().Add(-59 * time.Minute), Reason: disruption.ReasonEmpty},
			{Node: "y", Time: now().Add(-time.Hour), Reason: disruption.ReasonEmpty},
			{Node: "z", Time: now().Add(-time.Minute), Reason: disruption.ReasonExpired},
		}, "a1"},
		{"rate for a reason: what had to go counts, what went for another does not", disruption.Budget{
			Unit: disruption.UnitNodes, Amount: 2, Window: time.Hour, Reasons: []disruption.Reason{disruption.ReasonUnderutilized},
		}, []disruption.Disruption{
			{Node: "x", Time: now(), Reason: disruption.ReasonExpired}, {Node: "y", Time: now(), Reason: disruption.ReasonDrifted},
		}, "a1"},
		{"what was started later than now is not yet", disruption.Budget{Unit: disruption.UnitNodes, Amount: 1, Window: time.Hour},
			[]disruption.Disruption{{Node: "x", Time: now().Add(time.Minute), Reason: disruption.ReasonEmpty}}, "a1"},
		{"rate of pods", disruption.Budget{Unit: disruption.UnitPods, Amount: 4, Window: time.Hour}, []disruption.Disruption{
			{Node: "x", Time: now(), Reason: disruption.ReasonEmpty, Pods: 2},
		}, "a1 b2"},
		{"rate of a zone", disruption.Budget{Unit: disruption.UnitNodes, Amount: 2, Window: time.Hour, Scope: disruption.Scope{Zone: "b"}}, []disruption.Disruption{
			{Node: "x", Time: now(), Reason: disruption.ReasonEmpty, Zone: "b"}, {Node: "y", Time: now(), Reason: disruption.ReasonEmpty, Zone: "a"},
		}, "a1 a2 b1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld()
			fleet(w)
			tt.budget.Name = "b"
			w.input.Budgets, w.input.History = []disruption.Budget{tt.budget}, tt.history
			f, l := w.tracker(t)
			var got []string
			for _, c := range f.Candidates {
				if l.Take(c, disruption.ReasonUnderutilized) == nil {
					got = append(got, c.Name)
				}
			}
			if text := strings.Join(got, " "); text != tt.want {
				t.Errorf("%q may go, want %q", text, tt.want)
			}
		})
	}
}

func TestValidateBudgets(t *testing.T) {
	good := disruption.Budget{Name: "b", Unit: disruption.UnitNodes, Amount: 1}
	if err := disruption.ValidateBudgets([]disruption.Budget{good}); err != nil {
		t.Error(err)
	}
	for field, change := range map[string]func(*disruption.Budget){
		"Name":    func(b *disruption.Budget) { b.Name = "" },
		"Unit":    func(b *disruption.Budget) { b.Unit = "cores" },
		"Amount":  func(b *disruption.Budget) { b.Amount = math.NaN() },
		"Window":  func(b *disruption.Budget) { b.Window = -1 },
		"Reasons": func(b *disruption.Budget) { b.Reasons = []disruption.Reason{disruption.ReasonExpired} },
	} {
		bad := good
		change(&bad)
		w := newWorld()
		w.input.Budgets = []disruption.Budget{bad}
		_, err := disruption.NewBudgetTracker(w.fleet(t))
		var fault *disruption.BudgetError
		if !errors.As(err, &fault) || fault.Field != field {
			t.Errorf("%s: error %v", field, err)
		}
	}
	var fault *disruption.BudgetError
	if err := disruption.ValidateBudgets([]disruption.Budget{good, good}); !errors.As(err, &fault) || fault.Field != "Name" {
		t.Error("two of one name:", err)
	}
	much := disruption.Budget{Name: "b", Unit: disruption.UnitNodes, Amount: 101, Percent: true}
	if err := disruption.ValidateBudgets([]disruption.Budget{much}); !errors.As(err, &fault) || fault.Field != "Amount" {
		t.Error("more than all:", err)
	}
}

// In whatever order nodes are taken and given back, no budget is exceeded, and a Take that is refused would have exceeded one.
func TestBudgetTrackerNeverExceeds(t *testing.T) {
	seeded.Check(t, func(rt *rapid.T) {
		w := newWorld()
		w.pool("other")
		n := rapid.IntRange(1, 12).Draw(rt, "nodes")
		for i := range n {
			w.node(fmt.Sprintf("n-%02d", i), rapid.SampledFrom([]string{"c2", "c4", "c8"}).Draw(rt, "type"),
				ofPool(rapid.SampledFrom([]string{"default", "other"}).Draw(rt, "pool")),
				labelled(corev1.LabelTopologyZone, rapid.SampledFrom([]string{"a", "b"}).Draw(rt, "zone")),
				holding(pods(fmt.Sprintf("p%d", i), rapid.IntRange(0, 2).Draw(rt, "pods"), "100m")...))
		}
		w.pool("default", budgets(v1.Budget{Nodes: rapid.SampledFrom([]string{"0", "2", "5", "30%", "100%"}).Draw(rt, "budget")}))
		for i := range rapid.IntRange(0, 3).Draw(rt, "budgets") {
			w.input.Budgets = append(w.input.Budgets, disruption.Budget{
				Name: fmt.Sprint(i), Unit: rapid.SampledFrom([]disruption.Unit{disruption.UnitNodes, disruption.UnitPods, disruption.UnitPrice}).Draw(rt, "unit"),
				Amount: float64(rapid.IntRange(0, 6).Draw(rt, "amount")), Window: rapid.SampledFrom([]time.Duration{0, time.Hour}).Draw(rt, "window"),
				Scope: disruption.Scope{Zone: rapid.SampledFrom([]string{"", "a", "b"}).Draw(rt, "scope")},
			})
		}
		f, l := w.tracker(t)
		held := map[string]bool{}
		for range rapid.IntRange(1, 40).Draw(rt, "steps") {
			c := rapid.SampledFrom(f.Candidates).Draw(rt, "node")
			switch {
			case held[c.Name] && rapid.Bool().Draw(rt, "return"):
				l.Return(c.Name)
				delete(held, c.Name)
			case l.Take(c, disruption.ReasonEmpty) == nil:
				held[c.Name] = true
			}
			for _, u := range l.Uses() {
				if u.Counts && u.InUse > u.Allowed+1e-6 {
					rt.Fatalf("%s: %g of %g in use", u.Budget, u.InUse, u.Allowed)
				}
			}
		}
		for name := range held {
			l.Return(name)
		}
		if i := slices.IndexFunc(l.Uses(), func(u disruption.BudgetUse) bool { return u.InUse > 1e-9 }); i >= 0 {
			rt.Fatalf("after all was given back: %+v", l.Uses()[i])
		}
	})
}
