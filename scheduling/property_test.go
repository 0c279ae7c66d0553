package scheduling_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/drawknife/drawknife/internal/planvalidator"
	"github.com/drawknife/drawknife/internal/seeded"
	"github.com/drawknife/drawknife/internal/trialtest"
	"github.com/drawknife/drawknife/scheduling"
)

// solved compiles and solves; errors fail the test.
func solved(t *rapid.T, s *scheduling.Snapshot) *scheduling.Plan {
	m, err := scheduling.Compile(s)
	if err != nil {
		t.Fatalf("Compile: %v", err)
	}
	return solvedBy(t, m)
}

func solvedBy(t *rapid.T, m *scheduling.Model) *scheduling.Plan {
	p, err := m.Solve(context.Background(), scheduling.Query{})
	if err != nil {
		t.Fatalf("Solve: %v", err)
	}
	return p
}

// SCH-177, soundness and completeness: each placement passes the independent validator, each pod stands exactly once, the bound
// is below the cost and its certificate holds, a pod without a place is explained for each pool and has no place indeed.
func TestPlansAreValid(t *testing.T) {
	seeded.Check(t, func(t *rapid.T) {
		s := randomSnapshot(t)
		p := solved(t, s)
		for i, fault := range planvalidator.Check(s, p) {
			if i == 0 {
				show(t, s)
			}
			t.Errorf("%v", fault)
		}
	})
}

// SCH-175: the same input gives the same plan, byte for byte: again, on one processor or two, and after a trip through a file.
func TestPlansAreDeterministic(t *testing.T) {
	seeded.Check(t, func(t *rapid.T) {
		s := randomSnapshot(t)
		want := text(t, solved(t, s))
		same := func(how string, p *scheduling.Plan) {
			if diff := cmp.Diff(want, text(t, p)); diff != "" {
				t.Errorf("%s (-first +then):\n%s", how, diff)
			}
		}
		same("again", solved(t, s))
		for _, n := range []int{1, 2} {
			before := runtime.GOMAXPROCS(n)
			p := solved(t, s)
			runtime.GOMAXPROCS(before)
			same(fmt.Sprintf("on %d processors", n), p)
		}
		for name, encode := range encodings() {
			var b bytes.Buffer
			if err := encode(s, &b); err != nil {
				t.Fatal(err)
			}
			back, err := scheduling.DecodeSnapshot(&b)
			if err != nil {
				t.Fatal(err)
			}
			same("through "+name, solved(t, back))
		}
	})
}

// The order in which pods, nodes, pools and DaemonSets are listed carries no meaning for what the plan costs.
func TestOrderOfInputDoesNotChangeCost(t *testing.T) {
	seeded.Check(t, func(t *rapid.T) {
		s := randomSnapshot(t)
		want := solved(t, s)
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		o := *s
		o.Pods, o.Nodes = slices.Clone(s.Pods), slices.Clone(s.Nodes)
		o.NodePools, o.DaemonSets = slices.Clone(s.NodePools), slices.Clone(s.DaemonSets)
		r.Shuffle(len(o.Pods), func(i, j int) { o.Pods[i], o.Pods[j] = o.Pods[j], o.Pods[i] })
		r.Shuffle(len(o.Nodes), func(i, j int) { o.Nodes[i], o.Nodes[j] = o.Nodes[j], o.Nodes[i] })
		r.Shuffle(len(o.NodePools), func(i, j int) { o.NodePools[i], o.NodePools[j] = o.NodePools[j], o.NodePools[i] })
		r.Shuffle(len(o.DaemonSets), func(i, j int) { o.DaemonSets[i], o.DaemonSets[j] = o.DaemonSets[j], o.DaemonSets[i] })
		got := solved(t, &o)
		if got.HourlyCost != want.HourlyCost || len(got.Unschedulable) != len(want.Unschedulable) {
			show(t, s)
			show(t, &o)
			t.Errorf("shuffled: %v USD/h and %d pods without a place, was %v and %d", got.HourlyCost, len(got.Unschedulable), want.HourlyCost, len(want.Unschedulable))
		}
	})
}

// changed is a later snapshot of the same cluster: some pods, nodes and DaemonSets went, came or moved.
func changed(t *rapid.T, s *scheduling.Snapshot, round int) *scheduling.Snapshot {
	other := randomSnapshot(t)
	o := *s
	o.Pods = nil
	for _, p := range s.Pods {
		if chance(t, 7) {
			o.Pods = append(o.Pods, p)
		}
	}
	for _, p := range other.Pods {
		if chance(t, 3) {
			c := p.DeepCopy()
			c.Name = fmt.Sprintf("late-%d-%s", round, c.Name)
			o.Pods = append(o.Pods, c)
		}
	}
	o.Nodes = nil
	for _, n := range s.Nodes {
		if chance(t, 8) {
			o.Nodes = append(o.Nodes, n)
		}
	}
	if chance(t, 3) {
		o.NodePools = other.NodePools
	}
	if chance(t, 3) {
		o.DaemonSets = other.DaemonSets
	}
	if chance(t, 3) {
		o.Catalogs = other.Catalogs
	}
	if chance(t, 2) {
		o.Vocabulary.WellKnown = append(slices.Clone(o.Vocabulary.WellKnown), "team")
	}
	return &o
}

// Update(s) is Compile(s), whatever the model was made from, and leaves that model as it was.
func TestUpdateEqualsCompile(t *testing.T) {
	seeded.Check(t, func(t *rapid.T) {
		s := randomSnapshot(t)
		m, err := scheduling.Compile(s)
		if err != nil {
			t.Fatal(err)
		}
		before := text(t, solvedBy(t, m))
		model, latest := m, s
		for round := range number(t, 1, 3) {
			latest = changed(t, latest, round)
			if model, err = model.Update(latest); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(text(t, solved(t, latest)), text(t, solvedBy(t, model))); diff != "" {
				t.Fatalf("(-Compile +Update):\n%s", diff)
			}
		}
		if diff := cmp.Diff(before, text(t, solvedBy(t, m))); diff != "" {
			t.Errorf("the first model changed (-before +after):\n%s", diff)
		}
	})
}

// A trial that was rolled back is as good as new: what it says then, and what it does afterwards, is what a fresh one
// says and does.
func TestTrialRollbackRestores(t *testing.T) {
	seeded.Check(t, func(t *rapid.T) {
		s := randomSnapshot(t)
		m, err := scheduling.Compile(s)
		if err != nil {
			t.Fatal(err)
		}
		trial := trialtest.New(m.Engine())
		type step struct {
			mark trialtest.Mark
			plan string
			done []func(*trialtest.Trial)
		}
		var marks []step
		var done []func(*trialtest.Trial)
		plan := func(x *trialtest.Trial) string {
			p, err := x.Plan(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			return text(t, p)
		}
		for range number(t, 1, 12) {
			switch number(t, 0, 4) {
			case 0:
				marks = append(marks, step{trial.Mark(), plan(trial), slices.Clone(done)})
			case 1:
				if len(s.Nodes) > 0 {
					name := oneOf(t, s.Nodes...).Name
					hide := func(x *trialtest.Trial) { _, _ = x.Hide(name) }
					hide(trial)
					done = append(done, hide)
				}
			case 2, 3:
				o := scheduling.PlaceOptions{ExistingOnly: chance(t, 3)}
				place := func(x *trialtest.Trial) { _, _ = x.Place(context.Background(), o) }
				place(trial)
				done = append(done, place)
			case 4:
				if len(marks) == 0 {
					continue
				}
				at := number(t, 0, len(marks)-1)
				mustRollback(t, trial, marks[at].mark)
				if diff := cmp.Diff(marks[at].plan, plan(trial)); diff != "" {
					t.Fatalf("after rollback (-at the mark +now):\n%s", diff)
				}
				done = slices.Clone(marks[at].done)
				marks = marks[:at+1]
			}
		}
		fresh := trialtest.New(m.Engine())
		for _, do := range done {
			do(fresh)
		}
		if diff := cmp.Diff(plan(fresh), plan(trial)); diff != "" {
			t.Errorf("at the end (-fresh trial, same steps +this one):\n%s", diff)
		}
		if len(marks) > 0 {
			mustRollback(t, trial, marks[0].mark)
		}
		trial.Commit()
		mustRollback(t, trial, trial.Mark())
	})
}

// What Place reports is what the plan says.
func TestOutcomeAgreesWithPlan(t *testing.T) {
	seeded.Check(t, func(t *rapid.T) {
		s := randomSnapshot(t)
		m, err := scheduling.Compile(s)
		if err != nil {
			t.Fatal(err)
		}
		trial := m.Trial()
		waiting := len(s.Pods)
		for i := range s.Nodes {
			if chance(t, 3) {
				n, err := trial.Hide(s.Nodes[i].Name)
				if err != nil {
					t.Fatal(err)
				}
				waiting += n
			}
		}
		out, err := trial.Place(context.Background(), scheduling.PlaceOptions{})
		if err != nil {
			t.Fatal(err)
		}
		p, err := trial.Plan(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		placed := 0
		seen := map[scheduling.PodKey]bool{}
		note := func(keys []scheduling.PodKey) {
			placed += len(keys)
			for _, k := range keys {
				if seen[k] {
					t.Errorf("%s stands twice", k)
				}
				seen[k] = true
			}
		}
		for i := range p.NewNodes {
			note(p.NewNodes[i].Pods)
		}
		for i := range p.Existing {
			note(p.Existing[i].Pods)
		}
		if out.Placed != placed || out.Unplaced != len(p.Unschedulable) || out.Placed+out.Unplaced != waiting || out.NewNodes != len(p.NewNodes) {
			t.Errorf("outcome %+v of %d pods, plan has %d placed, %d not, %d nodes", out, waiting, placed, len(p.Unschedulable), len(p.NewNodes))
		}
		if d := out.NewCost - p.HourlyCost; d > 1e-6 || d < -1e-6 {
			t.Errorf("outcome costs %v, the plan %v", out.NewCost, p.HourlyCost)
		}
	})
}

// Any number of solves and trials may run on one model (meant for -race).
func TestConcurrentSolves(t *testing.T) {
	seeded.Check(t, func(t *rapid.T) {
		s := randomSnapshot(t)
		m, err := scheduling.Compile(s)
		if err != nil {
			t.Fatal(err)
		}
		want := text(t, solved(t, s))
		plans := make([]string, 4)
		var group sync.WaitGroup
		for i := range plans {
			group.Go(func() {
				if i%2 == 1 && len(s.Nodes) > 0 {
					trial := m.Trial()
					mark := trial.Mark()
					_, _ = trial.Hide(s.Nodes[i%len(s.Nodes)].Name)
					_, _ = trial.Place(context.Background(), scheduling.PlaceOptions{})
					_ = trial.Rollback(mark)
				}
				if p, err := m.Solve(context.Background(), scheduling.Query{}); err == nil {
					plans[i] = text(t, p)
				}
			})
		}
		group.Wait()
		for _, got := range plans {
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-alone +side by side):\n%s", diff)
			}
		}
	})
}
