package placing_test

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/internal/parts"
	"github.com/drawknife/drawknife/internal/trialtest"
	"github.com/drawknife/drawknife/scheduling"
)

// Scatter puts each pod, in the order given, on the node that then has the largest share of its cores and memory left. The
// pods are p, q and r of a, with 1, 1.1 and 0.9 cores and a gibibyte.
func TestTrialScatter(t *testing.T) {
	for _, c := range []struct {
		name   string
		others []scheduling.Node
		like   parts.PodOption // all pods; nil for nothing
		order  string
		// want are pods with their nodes, left those that no node takes.
		want, left string
	}{
		{name: "turn by turn over nodes that are alike", others: []scheduling.Node{parts.Node("b"), parts.Node("c")}, order: "p q r", want: "p=b q=c r=b"},
		{name: "in the order given", others: []scheduling.Node{parts.Node("b"), parts.Node("c")}, order: "q p r", want: "q=b p=c r=c"},
		{
			name: "by the share that is left, not by the amount", order: "p q r", want: "p=b q=b r=c",
			others: []scheduling.Node{
				parts.Node("b", parts.Bound(parts.Pod("x", parts.Requests("cpu=1", "memory=1Gi")))),
				parts.Node("c", parts.Allocatable("cpu=8", "memory=32Gi"), parts.Bound(parts.Pod("y", parts.Requests("cpu=4500m", "memory=8Gi")))),
			},
		},
		{
			name: "memory counts as cores do", order: "p q r", want: "p=c q=c r=c",
			others: []scheduling.Node{parts.Node("b", parts.Bound(parts.Pod("x", parts.Requests("cpu=100m", "memory=14Gi")))), parts.Node("c")},
		},
		{
			name: "not where a taint or a cordon keeps it away", order: "p q r", want: "p=c q=c r=c",
			others: []scheduling.Node{parts.Node("b", parts.NodeTaints("dedicated=x:NoSchedule")), parts.Node("c", parts.Allocatable("cpu=4", "memory=8Gi")), parts.Node("d", parts.Cordoned)},
		},
		{
			name: "one without a place keeps nobody else from theirs", order: "p q r", want: "p=b r=b", left: "q",
			others: []scheduling.Node{parts.Node("b", parts.Allocatable("cpu=2", "memory=16Gi"))},
		},
		{
			name: "rules about other pods hold", order: "p q r", want: "p=c q=b", left: "r",
			others: []scheduling.Node{parts.Node("b"), parts.Node("c", parts.Allocatable("cpu=64", "memory=256Gi"))},
			like: func(p *corev1.Pod) {
				parts.Labelled("x")(p)
				parts.AwayFrom(corev1.LabelHostname, "x")(p)
			},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			var pods []*corev1.Pod
			for name, cpu := range map[string]string{"p": "1", "q": "1100m", "r": "900m"} {
				p := parts.Pod(name, parts.Requests("cpu="+cpu, "memory=1Gi"))
				if c.like != nil {
					c.like(p)
				}
				pods = append(pods, p)
			}
			all := []any{parts.Node("a", parts.Bound(pods...), func(n *scheduling.Node) {
				n.Object.Status.Allocatable = parts.Amounts("cpu=100", "memory=400Gi", "pods=110") // roomy, but gone
			})}
			for _, n := range c.others {
				all = append(all, n)
			}
			trial := trialtest.New(parts.Compile(t, parts.Cluster(all...)).Engine())
			parts.MustHide(t, trial, "a")
			mark := trial.Mark()
			left, err := trial.Scatter(parts.KeysOf(c.order))
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(left, parts.KeysOf(c.left)) {
				t.Errorf("without a place: %v, want %q", left, c.left)
			}
			plan := parts.PlanOf(t, trial)
			for _, want := range strings.Fields(c.want) {
				name, on, _ := strings.Cut(want, "=")
				parts.WantPlace(t, plan, name, "on "+on)
			}
			parts.MustRollback(t, trial, mark)
			if n := len(parts.PlanOf(t, trial).Existing); n != 0 {
				t.Errorf("rolled back, %d nodes still have pods", n)
			}
		})
	}
}

// Scatter uses new nodes like others, and no closed ones; a pod that does not wait is an error.
func TestTrialScatterOnNewNodes(t *testing.T) {
	s := parts.Cluster(parts.NodePool("general"), parts.Node("a", parts.Bound(parts.Pod("p"), parts.Pod("q"))), parts.Node("b", parts.Bound(parts.Pod("r", parts.Requests("cpu=1", "memory=2Gi")))), parts.Node("c"))
	trial := trialtest.New(parts.Compile(t, s).Engine())
	if err := trial.Close("c"); err != nil {
		t.Fatal(err)
	}
	parts.MustHide(t, trial, "b")
	if _, ok := trial.Launch(scheduling.Query{}, 1e6); !ok {
		t.Fatal("no new node for r")
	}
	parts.MustHide(t, trial, "a")
	left, err := trial.Scatter(parts.KeysOf("p q"))
	if err != nil {
		t.Fatal(err)
	}
	if got := trial.Assigned(); len(got.Existing) != 0 || !slices.Equal(got.Planned[0], parts.KeysOf("r p")) || !slices.Equal(left, parts.KeysOf("q")) {
		t.Errorf("on new nodes %v, on others %v, left %v", got.Planned, got.Existing, left)
	}
	for _, names := range []string{"p", "x"} {
		if _, err := trialtest.New(parts.Compile(t, s).Engine()).Scatter(parts.KeysOf(names)); err == nil {
			t.Errorf("%s does not wait, and was scattered", names)
		}
	}
}
