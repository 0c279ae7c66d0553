package disruption_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/disruption"
	"github.com/drawknife/drawknife/scheduling"
)

// frailWorld has a node whose pods have room on two others: the larger pod on one of them alone, if the smaller is not there
// already. kube-scheduler would put the smaller there, if it came first.
func frailWorld(large string) *world {
	w := newWorld()
	w.node("goes", "c4", holding(pod("large", asks("cpu="+large, "memory=100Mi")), pod("small", asks("cpu=800m", "memory=100Mi"))))
	w.node("wide", "c4", annotated(v1.DoNotDisruptAnnotationKey, "true"), holding(pod("p", asks("cpu=1", "memory=100Mi"))))
	w.node("tight", "c2", annotated(v1.DoNotDisruptAnnotationKey, "true"), holding(pod("q", asks("cpu=1", "memory=100Mi"))))
	return w
}

// With Robustness a wave keeps only commands whose pods find a place wherever kube-scheduler's scores put them; what is left
// out says so.
func TestRobustness(t *testing.T) {
	for _, c := range []struct {
		name   string
		large  string
		orders int
		goes   bool
	}{
		{"places rest on the order", "2500m", 0, true},
		{"one of many orders shows it", "2500m", 16, false},
		{"both have room together", "1900m", 16, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			planner := thrifty()
			planner.Robustness = c.orders
			planner.MaxBins, planner.MinSaving = ptr(1), 0.15 // a new node for the pods costs more than that leaves
			plan, err := planner.Plan(t.Context(), frailWorld(c.large).fleet(t))
			if err != nil {
				t.Fatal(err)
			}
			goes := slices.ContainsFunc(plan.Commands, func(cmd *disruption.Command) bool { return slices.Contains(cmd.Nodes(), "goes") })
			if goes != c.goes || len(plan.Waves) != len(plan.Commands) {
				t.Errorf("goes %v, want %v: %v in %d waves", goes, c.goes, plan.Commands, len(plan.Waves))
			}
			if c.goes {
				return
			}
			for _, v := range plan.Verdicts {
				if v.Node == "goes" && (v.Blocks[len(v.Blocks)-1].Block.Code != disruption.BlockRobustness || !strings.Contains(v.String(), "default/large")) {
					t.Errorf("%s, want that the large pod may find no place", v)
				}
			}
			if !plan.Waiting {
				t.Error("the plan does not say that looking again is worth it")
			}
		})
	}
}

// waitingWorld has room for pods that wait on a node whose own pod costs less elsewhere: a plan takes it away, and the waiting
// pods with it.
func waitingWorld(cpu string) *world {
	w := newWorld()
	w.node("a", "c8", holding(pods("a", 3, "1")...))
	w.node("b", "c8", holding(pods("b", 4, "1")...))
	w.node("c", "c8", holding(pods("c", 1, "1")...))
	for i := range 3 {
		w.snapshot.Pods = append(w.snapshot.Pods, pod(fmt.Sprintf("waits-%d", i), asks("cpu="+cpu, "memory=100Mi"), func(p *corev1.Pod) { p.Status.Phase = corev1.PodPending }))
	}
	return w
}

// waitsOnNew are the commands with a new node that is also for pods that wait.
func waitsOnNew(plan *disruption.Plan) (out []*disruption.Command) {
	for _, cmd := range plan.Commands {
		for _, r := range cmd.Replacements {
			if slices.ContainsFunc(r.Node.Pods, func(key scheduling.PodKey) bool { return strings.HasPrefix(key.Name, "waits-") }) {
				out = append(out, cmd)
			}
		}
	}
	return out
}

// Pods that wait and have room on a node of the fleet are scattered with the others once it goes, checked or not, and their commands are
// valid: with a plan made again, too.
func TestRobustnessWithWaitingPods(t *testing.T) {
	for _, c := range []struct {
		cpu            string
		orders, checks int
	}{{"1900m", 0, 0}, {"1900m", 1, 0}, {"1900m", 3, 0}, {"1900m", 3, 8}, {"1900m", 0, 8}, {"100m", 3, 0}, {"700m", 3, 8}, {"30", 3, 0}} {
		t.Run(fmt.Sprintf("%s in %d orders, %d checks", c.cpu, c.orders, c.checks), func(t *testing.T) {
			w := waitingWorld(c.cpu)
			planner := thrifty()
			planner.Robustness, planner.Checks = c.orders, c.checks
			plan, memory := again(t, planner, w.fleet(t), nil)
			if next, _ := again(t, planner, w.fleet(t), memory); encoded(t, next) != encoded(t, plan) {
				t.Error("made again, the plan is another")
			}
			if len(plan.Commands) == 0 || c.cpu == "1900m" && len(waitsOnNew(plan)) == 0 {
				t.Errorf("%v: this test shows little", plan.Commands)
			}
			good, rejected, err := planner.Restrict(t.Context(), w.fleet(t), plan.Commands)
			if err != nil || len(rejected) > 0 || len(good) != len(plan.Commands) {
				t.Errorf("%d of %d commands are good: %v, %v", len(good), len(plan.Commands), rejected, err)
			}
		})
	}
}

// A place for a pod that waits is none for a pod that has come to a node that goes.
func TestValidateCountsNoWaitingPods(t *testing.T) {
	w := waitingWorld("1900m")
	planner := thrifty()
	plan := nothing(t, planner, w.fleet(t))
	list := waitsOnNew(plan)
	if len(list) == 0 {
		t.Fatalf("%v: no new node is for pods that wait", plan.Commands)
	}
	next := w.later(0)
	for i := range next.snapshot.Nodes {
		if n := &next.snapshot.Nodes[i]; n.Name == list[0].Nodes()[0] {
			n.Pods = slices.Clone(n.Pods)
			holding(pod("come", asks("cpu=100m")))(n)
		}
	}
	var rejected *disruption.RejectedError
	if _, err := planner.Validate(t.Context(), next.fleet(t), list[0]); !errors.As(err, &rejected) {
		t.Errorf("%v, want it rejected for the pod that has come", err)
	}
}

// A wave whose scattered pods leave none for those that wait anyway loses its last command.
func TestRobustnessKeepsPlacesOfWaitingPods(t *testing.T) {
	for orders, want := range map[int]bool{0: true, 1: false} {
		w := newWorld()
		w.node("goes", "c4", holding(pod("small", asks("cpu=800m", "memory=100Mi"))))
		w.node("wide", "c4", annotated(v1.DoNotDisruptAnnotationKey, "true"), holding(pod("p", asks("cpu=700m", "memory=100Mi"))))
		w.node("tight", "c2", annotated(v1.DoNotDisruptAnnotationKey, "true"), holding(pod("q", asks("cpu=1", "memory=100Mi"))))
		w.snapshot.Pods = append(w.snapshot.Pods, pod("waits", asks("cpu=2900m", "memory=100Mi"), func(p *corev1.Pod) { p.Status.Phase = corev1.PodPending }))
		planner := thrifty()
		planner.Robustness, planner.MaxBins, planner.MinSaving = orders, ptr(1), 0.15
		plan := nothing(t, planner, w.fleet(t))
		if goes := len(plan.Commands) > 0; goes != want {
			t.Errorf("%d orders: %v", orders, plan.Commands)
		}
	}
}
