package disruption_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"github.com/drawknife/drawknife/disruption"
	"github.com/drawknife/drawknife/internal/seeded"
	"github.com/drawknife/drawknife/internal/workload"
	"github.com/drawknife/drawknife/scheduling"
)

// displaced is the snapshot with the commands under way: what they launch is there and empty, their members are leaving or gone,
// and the pods that have to move wait.
func displaced(t failing, s *scheduling.Snapshot, commands []*disruption.Command, gone bool) *scheduling.Snapshot {
	t.Helper()
	out := *s
	out.Nodes, out.Pods = slices.Clone(s.Nodes), nil
	for n, cmd := range commands {
		moving := unplaced(&out, cmd)
		out.Pods = append(out.Pods, moving.Pods...)
		if gone {
			out.Nodes = moving.Nodes
		}
		for i := range out.Nodes {
			if node := &out.Nodes[i]; slices.Contains(cmd.Nodes(), node.Name) {
				node.Leaving = true
				node.Pods = slices.DeleteFunc(slices.Clone(node.Pods), func(p *corev1.Pod) bool {
					return slices.ContainsFunc(moving.Pods, func(q *corev1.Pod) bool { return q.Namespace == p.Namespace && q.Name == p.Name })
				})
			}
		}
		for i, r := range cmd.Replacements {
			if r.Node != nil {
				out.Nodes = append(out.Nodes, launched(s, r.Node, fmt.Sprintf("new-%d-%d-%d", s.Time.Unix(), n, i)))
			}
		}
	}
	return &out
}

// shuffled gives the waiting pods another order and other ages.
func shuffled(rt *rapid.T, s *scheduling.Snapshot) *scheduling.Snapshot {
	if len(s.Pods) == 0 {
		return s
	}
	out := *s
	out.Pods = rapid.Permutation(s.Pods).Draw(rt, "queue")
	for i, p := range out.Pods {
		p.CreationTimestamp = metav1.NewTime(s.Time.Add(time.Duration(i) * time.Second))
	}
	return &out
}

// nothingMore reports whether provisioning has a place for all pods that wait, and launches nothing for them.
func nothingMore(t failing, s *scheduling.Snapshot) bool {
	t.Helper()
	m, err := scheduling.Compile(s)
	if err != nil {
		t.Fatalf("%v", err)
	}
	plan, err := m.Solve(context.Background(), scheduling.Query{})
	if err != nil {
		t.Fatalf("%v", err)
	}
	return len(plan.NewNodes) == 0 && len(plan.Unschedulable) == 0
}

// After each wave of a plan of Global that was checked, and so after the plan, provisioning has places for all pods that had to move and launches
// nothing, in whatever order they come, while the nodes that go are leaving and once they are gone; but for the commands of which
// the plan says that this is not known, which are few.
func TestPlansNeedNoFurtherNodes(t *testing.T) {
	plans, unsettled := 0, 0
	seeded.Times(t, 500, func(rt *rapid.T) {
		w := drawnWorld(rt)
		planner := drawnPlanner(rt)
		planner.Checks = 64
		plan, err := planner.Plan(t.Context(), w.fleet(t))
		if err != nil {
			rt.Fatal(err)
		}
		if len(plan.Commands) > 0 {
			plans++
		}
		unsettled += settleWaves(rt, w.snapshot, plan)
	})
	if plans == 0 || unsettled*100 > plans {
		t.Errorf("%d commands of %d plans are unsettled", unsettled, plans)
	}
}

// So it is on larger fleets, whose pods fill new nodes almost wholly.
func TestTightPlansNeedNoFurtherNodes(t *testing.T) {
	seeds := uint64(seeded.Draws(1, 3))
	for seed := range seeds {
		for _, fill := range []float64{0.1, 0.4, 0.7} {
			s := workload.Fleet{Nodes: 25, Fill: fill, Mixed: true, Seed: seed + 1}.Snapshot()
			plan, err := (&disruption.Global{Checks: 64}).Plan(t.Context(), surveyed(t, s))
			if err != nil {
				t.Fatal(err)
			}
			if unsettled := settleWaves(t, s, plan); len(plan.Commands) == 0 || unsettled > 1 || (seed == 0 && unsettled > 0) {
				t.Errorf("seed %d, %g full: %d of %d commands are unsettled", seed, fill, unsettled, len(plan.Commands))
			}
		}
	}
}

// A plan that nobody checks says so of all commands that have pods to move, and may need more nodes.
func TestUnsettledCommandsAreNamed(t *testing.T) {
	s := workload.Fleet{Nodes: 25, Fill: 0.4, Mixed: true, Seed: 1}.Snapshot()
	plan, err := (&disruption.Global{Checks: 1}).Plan(t.Context(), surveyed(t, s))
	if err != nil {
		t.Fatal(err)
	}
	if len(plan.Unsettled) == 0 || len(plan.Unsettled) > len(plan.Commands) {
		t.Errorf("%d of %d commands are unsettled after one question", len(plan.Unsettled), len(plan.Commands))
	}
	unchecked, err := (&disruption.Global{}).Plan(t.Context(), surveyed(t, s))
	if err != nil {
		t.Fatal(err)
	}
	if nothingMore(t, displaced(t, s, unchecked.Commands, true)) {
		t.Error("a plan without checks needs no further nodes here: this test shows nothing")
	}
}

// settleWaves carries the plan out wave by wave, and asks provisioning in between. It returns how many commands are unsettled.
func settleWaves(t failing, s *scheduling.Snapshot, plan *disruption.Plan) int {
	t.Helper()
	left := plan.Commands
	for n, wave := range plan.Waves {
		commands := left[:len(wave.Commands)]
		left = left[len(commands):]
		unsettled := slices.ContainsFunc(wave.Commands, func(id string) bool { return slices.Contains(plan.Unsettled, id) })
		for _, gone := range []bool{false, true} {
			now := displaced(t, s, commands, gone)
			if rt, drawn := t.(*rapid.T); drawn {
				now = shuffled(rt, now)
			}
			if !unsettled && !nothingMore(t, now) {
				t.Errorf("wave %d (members gone: %t): provisioning launches more, or a pod has no place", n, gone)
			}
		}
		s = applied(t, s, commands, true)
	}
	return len(plan.Unsettled)
}
