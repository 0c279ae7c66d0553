package disruption_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"github.com/drawknife/drawknife/api/option"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/disruption"
	"github.com/drawknife/drawknife/internal/seeded"
	"github.com/drawknife/drawknife/internal/workload"
	"github.com/drawknife/drawknife/scheduling"
)

// A caller keeps the memory between rounds; the first plan, and any other, may be made without one.
func ExampleGlobal_PlanAgain() {
	w := newWorld() // a pool "default" and its instance types
	w.node("a", "c8", holding(pods("a", 3, "1")...))
	w.node("b", "c8", holding(pods("b", 4, "1")...))
	planner := &disruption.Global{}
	var memory *disruption.Memory
	for round := range 2 {
		fleet, err := disruption.Survey(disruption.Input{View: disruption.ViewOf(w.snapshot)})
		if err != nil {
			log.Fatal(err)
		}
		plan, next, err := planner.PlanAgain(context.Background(), fleet, memory)
		if err != nil {
			log.Fatal(err) // memory is still good
		}
		memory = next
		fmt.Println(round, plan.Commands[0])
	}
	// Output:
	// 0 delete a (Underutilized), moving 3 pods, saving 0.4000 USD/h
	// 1 delete a (Underutilized), moving 3 pods, saving 0.4000 USD/h
}

// again plans with the memory, and fails the test if it can't.
func again(t failing, p *disruption.Global, f *disruption.Fleet, m *disruption.Memory) (*disruption.Plan, *disruption.Memory) {
	t.Helper()
	plan, next, err := p.PlanAgain(context.Background(), f, m)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return plan, next
}

func nothing(t failing, p *disruption.Global, f *disruption.Fleet) *disruption.Plan {
	t.Helper()
	plan, err := p.Plan(context.Background(), f)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return plan
}

// A memory never lets a plan say what is no longer so: whatever one thing of a fleet changes, be it only the time, the plan
// is that from nothing, byte for byte, where a fleet is small or nothing has changed.
func TestMemoryKnowsWhatChanged(t *testing.T) {
	kinds, told := mutations(), 0
	seeded.Times(t, 400, func(rt *rapid.T) {
		w := drawnWorld(rt)
		planner := drawnPlanner(rt)
		if rapid.Bool().Draw(rt, "cool") {
			planner.CoolDown = nil
		}
		planner.ExpireAhead = rapid.SampledFrom([]time.Duration{0, 30 * time.Minute}).Draw(rt, "ahead")
		// The first change makes what the time may change, the second is one after the plan.
		first, second := rapid.SampledFrom(kinds).Draw(rt, "first"), rapid.SampledFrom(kinds).Draw(rt, "second")
		if rapid.Bool().Draw(rt, "prepared") {
			w = w.later(0)
			first.do(rt, w)
		}
		before, memory := again(rt, planner, w.fleet(t), nil)
		if want := encoded(rt, nothing(rt, planner, w.fleet(t))); encoded(rt, before) != want {
			rt.Fatalf("without a memory:\n%s\nfrom nothing:\n%s", encoded(rt, before), want)
		}
		next := w.later(rapid.SampledFrom([]time.Duration{0, time.Second, 5 * time.Minute, 35 * time.Minute, 2 * time.Hour, 60 * time.Hour}).Draw(rt, "later"))
		change := len(next.snapshot.Nodes) > 0 && rapid.IntRange(0, 3).Draw(rt, "change") > 0
		if change {
			second.do(rt, next)
		}
		for range 2 { // the second time with what the first has left
			f := next.fleet(t)
			got, left := again(rt, planner, f, memory)
			want := nothing(rt, planner, f)
			if encoded(rt, got) != encoded(rt, want) {
				rt.Fatalf("%s (%t):\n%s\nfrom nothing:\n%s", second.name, change, encoded(rt, got), encoded(rt, want))
			}
			if said(got) != said(before) {
				told++
			}
			memory = left
		}
	})
	if told < 20 {
		t.Errorf("only %d changes made another plan: this test shows little", told)
	}
}

// What objects say that is of no concern, and objects that are only copies, change nothing.
func TestMemoryPassesOverWhatIsOfNoConcern(t *testing.T) {
	s := workload.Fleet{Nodes: 110, Fill: 0.4, Seed: 3}.Snapshot()
	planner := &disruption.Global{}
	before, memory := again(t, planner, surveyed(t, s), nil)
	next := *s
	next.Time = s.Time.Add(time.Minute)
	next.Nodes = slices.Clone(s.Nodes)
	for i := range next.Nodes {
		n := &next.Nodes[i]
		n.Object, n.Claim, n.Pods = n.Object.DeepCopy(), n.Claim.DeepCopy(), slices.Clone(n.Pods)
		n.Object.ResourceVersion, n.Claim.ResourceVersion = "2", "2"
		n.Object.Status.Conditions[0].LastHeartbeatTime = metav1.NewTime(next.Time)
		for k := range n.Pods {
			n.Pods[k] = n.Pods[k].DeepCopy()
			n.Pods[k].ResourceVersion = "2"
		}
	}
	got, left := again(t, planner, surveyed(t, &next), memory)
	if disruption.Looked(left) != 0 {
		t.Errorf("%d nodes were looked at again", disruption.Looked(left))
	}
	if said(got) != said(before) || !got.Time.Equal(next.Time) || got.Commands[0].ID == before.Commands[0].ID || len(got.Verdicts) != len(before.Verdicts) {
		t.Error("the plan is another, or of another time")
	}
	for i := range got.Verdicts {
		if v := got.Verdicts[i]; v.String() != before.Verdicts[i].String() || v.Command != "" && v.Command == before.Verdicts[i].Command {
			t.Errorf("%s, before: %s", v, before.Verdicts[i])
		}
	}
	planner.MinSavingShare = ptr(0.9)
	if other, _ := again(t, planner, surveyed(t, &next), left); encoded(t, other) != encoded(t, nothing(t, planner, surveyed(t, &next))) {
		t.Error("other options give the plan of those before")
	}
}

// churned is the snapshot somewhat later: a share of the pods has ended, asks for something else, or has come up elsewhere.
func churned(s *scheduling.Snapshot, share float64, seed uint64) *scheduling.Snapshot {
	random := rand.New(rand.NewPCG(seed, 1))
	out := *s
	out.Time = s.Time.Add(10 * time.Second)
	out.Nodes = slices.Clone(s.Nodes)
	for i := range out.Nodes {
		n := &out.Nodes[i]
		n.Pods = slices.Clone(n.Pods)
		for k := 0; k < len(n.Pods); k++ {
			if random.Float64() >= share {
				continue
			}
			pod := n.Pods[k].DeepCopy()
			pod.Name, pod.UID = fmt.Sprintf("%s-%d", pod.Name, seed), pod.UID+"x"
			switch random.IntN(3) {
			case 0:
				n.Pods[k] = pod
				if random.IntN(4) == 0 {
					asks("cpu=300m", "memory=400Mi")(pod)
				}
			case 1:
				n.Pods = slices.Delete(n.Pods, k, k+1)
			default:
				n.Pods = slices.Delete(n.Pods, k, k+1)
				if to := &out.Nodes[random.IntN(len(out.Nodes))]; likewise(to, n) && to != n {
					pod.Spec.NodeName = to.Name
					to.Pods = append(slices.Clone(to.Pods), pod)
				}
			}
		}
	}
	return &out
}

// likewise reports whether pods that are bound to where one node is may be on the other.
func likewise(a, b *scheduling.Node) bool {
	for _, key := range []string{corev1.LabelTopologyZone, corev1.LabelArchStable, v1.CapacityTypeLabelKey} {
		if a.Object.Labels[key] != b.Object.Labels[key] {
			return false
		}
	}
	return true
}

func savedBy(plan *disruption.Plan) float64 {
	sum := 0.0
	for _, cmd := range plan.Commands {
		sum += cmd.Savings
	}
	return sum
}

// Round after round, plans with a memory are worth within 1 % of what those from nothing are together, each within 3 %, which is
// by how much plans from nothing of fleets that differ by a pod may differ; and they are as sound: places, budgets, and what keeps
// nodes from being candidates. The same memory gives the same bytes, whatever GOMAXPROCS.
func TestPlansAgainAreWorthAsMuch(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	rounds, looked := 0, 0
	sum, sumNothing := 0.0, 0.0
	seeded.Times(t, seeded.Draws(4, 10), func(rt *rapid.T) {
		s := workload.Fleet{
			Nodes: rapid.IntRange(100, 150).Draw(rt, "nodes"), Fill: rapid.SampledFrom([]float64{0.2, 0.4, 0.7}).Draw(rt, "fill"),
			Mixed: rapid.Bool().Draw(rt, "mixed"), Seed: rapid.Uint64Range(1, 1000).Draw(rt, "seed"),
		}.Snapshot()
		if limit := rapid.IntRange(0, 3).Draw(rt, "budget"); limit == 0 {
			s.NodePools[0].Object.Spec.Disruption.Budgets = []v1.Budget{{Nodes: "30%"}}
		}
		planner := &disruption.Global{}
		_, memory := again(rt, planner, surveyed(t, s), nil)
		for range 3 {
			s = churned(s, rapid.SampledFrom([]float64{0.003, 0.01, 0.03}).Draw(rt, "share"), rapid.Uint64().Draw(rt, "churn"))
			held := holdBack(rt, s)
			f := surveyed(t, s)
			runtime.GOMAXPROCS(1)
			got, left := again(rt, planner, f, memory)
			runtime.GOMAXPROCS(2)
			if same, _ := again(rt, planner, f, memory); encoded(rt, same) != encoded(rt, got) {
				rt.Fatalf("the same memory gives another plan")
			}
			want := nothing(rt, planner, f)
			sum, sumNothing = sum+savedBy(got), sumNothing+savedBy(want)
			if savedBy(got) < 0.97*savedBy(want) {
				rt.Errorf("saves %.3f USD/h, from nothing %.3f of %.3f", savedBy(got), savedBy(want), want.Cost)
			}
			sound(rt, s, f, got)
			for _, cmd := range got.Commands {
				if slices.Contains(cmd.Nodes(), held) {
					rt.Errorf("%s must not be disrupted and goes: %s", held, cmd)
				}
			}
			if rounds++; disruption.Looked(left) > 0 {
				looked++
			}
			memory = left
		}
	})
	if sum < 0.99*sumNothing {
		t.Errorf("%.3f USD/h are saved, from nothing %.3f", sum, sumNothing)
	}
	if looked*2 < rounds {
		t.Errorf("%d of %d plans began with what was remembered: this test shows little", looked, rounds)
	}
}

// What a memory knows of a node's pods is what a look at them gives: pods that have come, protections that have ended, and
// PodDisruptionBudgets that allow something else are looked at.
func TestMemoryKnowsPods(t *testing.T) {
	s := workload.Fleet{Nodes: 110, Fill: 0.4, Mixed: true}.Snapshot()
	started := metav1.NewTime(s.Time.Add(-time.Minute))
	for i := range 10 {
		n := &s.Nodes[i]
		if n.Pods = slices.Clone(n.Pods); len(n.Pods) > 0 {
			n.Pods[0] = n.Pods[0].DeepCopy()
			podAnnotated(v1.DoNotDisruptAnnotationKey, "65s")(n.Pods[0]) // ends before the next look
			n.Pods[0].Status.StartTime = &started
		}
	}
	planner := &disruption.Global{}
	_, memory := again(t, planner, surveyed(t, s), nil)
	look := func(what string, s *scheduling.Snapshot, knows bool) {
		t.Helper()
		apart, known, err := disruption.MovesApart(t.Context(), planner, surveyed(t, s), memory)
		if err != nil || len(apart) > 0 {
			t.Errorf("%s: pods of %v do something else, %v", what, apart, err)
		}
		if knows != (known > 50) {
			t.Errorf("%s: the pods of %d nodes are known", what, known)
		}
	}
	next := churned(s, 0.02, 3)
	look("pods have come and gone", next, true)
	tighter := *next
	tighter.PodDisruptionBudgets = slices.Clone(next.PodDisruptionBudgets)
	tighter.PodDisruptionBudgets[0] = tighter.PodDisruptionBudgets[0].DeepCopy()
	tighter.PodDisruptionBudgets[0].Status.DisruptionsAllowed = 1
	look("a budget allows less", &tighter, false)
	earlier := *next
	earlier.Time = s.Time.Add(-30 * time.Second)
	look("the clock went back", &earlier, false)
}

// holdBack has one node kept from disruption, in one way or another.
func holdBack(rt *rapid.T, s *scheduling.Snapshot) string {
	n := &s.Nodes[rapid.IntRange(0, len(s.Nodes)-1).Draw(rt, "held")]
	n.Object = n.Object.DeepCopy()
	if len(n.Pods) > 0 && rapid.Bool().Draw(rt, "pod") {
		n.Pods = slices.Clone(n.Pods)
		n.Pods[0] = n.Pods[0].DeepCopy()
		podAnnotated(v1.DoNotDisruptAnnotationKey, "true")(n.Pods[0])
		return n.Name
	}
	annotated(v1.DoNotDisruptAnnotationKey, "true")(n)
	return n.Name
}

// sound checks places in the order of the waves, budgets, and candidates.
func sound(rt *rapid.T, s *scheduling.Snapshot, f *disruption.Fleet, plan *disruption.Plan) {
	tracker, err := disruption.NewBudgetTracker(f)
	if err != nil {
		rt.Fatal(err)
	}
	for _, cmd := range plan.Commands {
		for _, m := range cmd.Members {
			c := f.Candidate(m.Node)
			if c == nil {
				rt.Fatalf("%s is no candidate: %s", m.Node, cmd)
			}
			if why := tracker.Take(c, cmd.Reason); why != nil {
				rt.Errorf("%s: %v", cmd, why)
			}
		}
	}
	next := applied(rt, s, plan.Commands, true)
	if len(next.Nodes) >= len(s.Nodes) && len(plan.Commands) > 0 && savedBy(plan) <= 0 {
		rt.Errorf("nothing is saved")
	}
}

// One memory serves several goroutines, also while others use the plan that it was made with.
func TestMemoryIsShared(t *testing.T) {
	s := workload.Fleet{Nodes: 110, Fill: 0.4, Seed: 5}.Snapshot()
	planner := &disruption.Global{}
	first, memory := again(t, planner, surveyed(t, s), nil)
	f := surveyed(t, churned(s, 0.01, 1))
	plans := make([]string, 4)
	var all sync.WaitGroup
	for i := range plans {
		all.Go(func() {
			plan, _ := again(t, planner, f, memory)
			plans[i] = encoded(t, plan)
		})
	}
	for _, cmd := range first.Commands { // as those do who begin waves
		cmd.Wave, cmd.Waves = 1, 2
	}
	all.Wait()
	for _, p := range plans[1:] {
		if p != plans[0] {
			t.Error("the same memory gives another plan")
		}
	}
}

// An error leaves the memory as it was.
func TestPlanAgainFaults(t *testing.T) {
	w := newWorld()
	w.node("a", "c8", holding(pods("a", 3, "1")...))
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, m, err := (&disruption.Global{}).PlanAgain(ended, w.fleet(t), nil); !errors.Is(err, context.Canceled) || m != nil {
		t.Errorf("%v, %v", m, err)
	}
	var missing *option.ArgumentError
	if _, _, err := (&disruption.Global{}).PlanAgain(t.Context(), nil, nil); !errors.As(err, &missing) {
		t.Error(err)
	}
	if plan, m, err := (&disruption.Global{}).PlanAgain(t.Context(), w.fleet(t), &disruption.Memory{}); err != nil || m == nil || plan == nil {
		t.Error("an empty memory:", err)
	}
}
