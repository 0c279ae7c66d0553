package scheduling_test

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/internal/trialtest"
	"github.com/drawknife/drawknife/scheduling"
)

// keysOf are the keys of pods by name.
func keysOf(names string) []scheduling.PodKey {
	var out []scheduling.PodKey
	for _, name := range strings.Fields(names) {
		out = append(out, scheduling.PodKey{Namespace: "default", Name: name})
	}
	return out
}

// Scatter puts each pod, in the order given, on the node that then has the largest share of its cores and memory left. The
// pods are p, q and r of a, with 1, 1.1 and 0.9 cores and a gibibyte.
func TestTrialScatter(t *testing.T) {
	for _, c := range []struct {
		name   string
		others []scheduling.Node
		like   podOption // all pods; nil for nothing
		order  string
		// want are pods with their nodes, left those that no node takes.
		want, left string
	}{
		{name: "turn by turn over nodes that are alike", others: []scheduling.Node{node("b"), node("c")}, order: "p q r", want: "p=b q=c r=b"},
		{name: "in the order given", others: []scheduling.Node{node("b"), node("c")}, order: "q p r", want: "q=b p=c r=c"},
		{
			name: "by the share that is left, not by the amount", order: "p q r", want: "p=b q=b r=c",
			others: []scheduling.Node{
				node("b", bound(pod("x", requests("cpu=1", "memory=1Gi")))),
				node("c", allocatable("cpu=8", "memory=32Gi"), bound(pod("y", requests("cpu=4500m", "memory=8Gi")))),
			},
		},
		{
			name: "memory counts as cores do", order: "p q r", want: "p=c q=c r=c",
			others: []scheduling.Node{node("b", bound(pod("x", requests("cpu=100m", "memory=14Gi")))), node("c")},
		},
		{
			name: "not where a taint or a cordon keeps it away", order: "p q r", want: "p=c q=c r=c",
			others: []scheduling.Node{node("b", nodeTaints("dedicated=x:NoSchedule")), node("c", allocatable("cpu=4", "memory=8Gi")), node("d", cordoned)},
		},
		{
			name: "one without a place keeps nobody else from theirs", order: "p q r", want: "p=b r=b", left: "q",
			others: []scheduling.Node{node("b", allocatable("cpu=2", "memory=16Gi"))},
		},
		{
			name: "rules about other pods hold", order: "p q r", want: "p=c q=b", left: "r",
			others: []scheduling.Node{node("b"), node("c", allocatable("cpu=64", "memory=256Gi"))},
			like: func(p *corev1.Pod) {
				labelled("x")(p)
				awayFrom(corev1.LabelHostname, "x")(p)
			},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			var pods []*corev1.Pod
			for name, cpu := range map[string]string{"p": "1", "q": "1100m", "r": "900m"} {
				p := pod(name, requests("cpu="+cpu, "memory=1Gi"))
				if c.like != nil {
					c.like(p)
				}
				pods = append(pods, p)
			}
			parts := []any{node("a", bound(pods...), func(n *scheduling.Node) {
				n.Object.Status.Allocatable = amounts("cpu=100", "memory=400Gi", "pods=110") // roomy, but gone
			})}
			for _, n := range c.others {
				parts = append(parts, n)
			}
			trial := trialtest.New(compile(t, cluster(parts...)).Engine())
			mustHide(t, trial, "a")
			mark := trial.Mark()
			left, err := trial.Scatter(keysOf(c.order))
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(left, keysOf(c.left)) {
				t.Errorf("without a place: %v, want %q", left, c.left)
			}
			plan := planOf(t, trial)
			for _, want := range strings.Fields(c.want) {
				name, on, _ := strings.Cut(want, "=")
				wantPlace(t, plan, name, "on "+on)
			}
			mustRollback(t, trial, mark)
			if n := len(planOf(t, trial).Existing); n != 0 {
				t.Errorf("rolled back, %d nodes still have pods", n)
			}
		})
	}
}

// Scatter uses new nodes like others, and no closed ones; a pod that does not wait is an error.
func TestTrialScatterOnNewNodes(t *testing.T) {
	s := cluster(nodePool("general"), node("a", bound(pod("p"), pod("q"))), node("b", bound(pod("r", requests("cpu=1", "memory=2Gi")))), node("c"))
	trial := trialtest.New(compile(t, s).Engine())
	if err := trial.Close("c"); err != nil {
		t.Fatal(err)
	}
	mustHide(t, trial, "b")
	if _, ok := trial.Launch(scheduling.Query{}, 1e6); !ok {
		t.Fatal("no new node for r")
	}
	mustHide(t, trial, "a")
	left, err := trial.Scatter(keysOf("p q"))
	if err != nil {
		t.Fatal(err)
	}
	if got := trial.Assigned(); len(got.Existing) != 0 || !slices.Equal(got.Planned[0], keysOf("r p")) || !slices.Equal(left, keysOf("q")) {
		t.Errorf("on new nodes %v, on others %v, left %v", got.Planned, got.Existing, left)
	}
	for _, names := range []string{"p", "x"} {
		if _, err := trialtest.New(compile(t, s).Engine()).Scatter(keysOf(names)); err == nil {
			t.Errorf("%s does not wait, and was scattered", names)
		}
	}
}
