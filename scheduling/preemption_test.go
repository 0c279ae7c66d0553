package scheduling_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/drawknife/drawknife/scheduling"
)

func nominatedFor(node string) podOption {
	return func(p *corev1.Pod) { p.Status.NominatedNodeName = node }
}

func neverPreempting(p *corev1.Pod) {
	never := corev1.PreemptNever
	p.Spec.PreemptionPolicy = &never
}

func startedAt(minute int) podOption {
	return func(p *corev1.Pod) {
		at := metav1.NewTime(time.Date(2026, 1, 1, 0, minute, 0, 0, time.UTC))
		p.Status.StartTime = &at
	}
}

func beingDeleted(p *corev1.Pod) {
	at := metav1.NewTime(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	p.DeletionTimestamp = &at
}

// kube-scheduler counts nominated pods on their node for pods of equal and lower priority, and looks at that node first
// when it comes to them.
func TestNominatedPodsHoldTheirRoom(t *testing.T) {
	want := func(t *testing.T, s *scheduling.Snapshot, places map[string]string) {
		t.Helper()
		p := solve(t, s)
		for name, place := range places {
			wantPlace(t, p, name, place)
		}
	}
	t.Run("against lower and equal priority", func(t *testing.T) {
		for _, other := range []int32{0, 10} {
			want(t, cluster(nothingNew(), node("n"), pod("a", requests("cpu=3"), priority(other)), pod("p", requests("cpu=3"), priority(10), nominatedFor("n"))),
				map[string]string{"p": "on n", "a": "nowhere"})
		}
	})
	t.Run("not against higher priority", func(t *testing.T) {
		want(t, cluster(nothingNew(), node("n"), pod("a", requests("cpu=3"), priority(20)), pod("p", requests("cpu=3"), priority(10), nominatedFor("n"))),
			map[string]string{"p": "nowhere", "a": "on n"})
	})
	t.Run("on their node rather than another", func(t *testing.T) {
		want(t, cluster(nothingNew(), node("a", bound(pod("b", requests("cpu=1")))), node("n"), pod("p", requests("cpu=1"), nominatedFor("n"))),
			map[string]string{"p": "on n"})
	})
	t.Run("while their victims are being deleted", func(t *testing.T) {
		victim := pod("v", requests("cpu=4"), priority(0), beingDeleted)
		want(t, cluster(node("n", bound(victim)), pod("p", requests("cpu=3"), priority(10), nominatedFor("n")), pod("q", requests("cpu=1"))),
			map[string]string{"p": "on n", "q": "new small/a/spot"})
	})
	t.Run("elsewhere if their node has no room", func(t *testing.T) {
		want(t, cluster(node("n", bound(pod("b", requests("cpu=4"), priority(10)))), pod("p", requests("cpu=1"), priority(10), nominatedFor("n"))),
			map[string]string{"p": "new small/a/spot"})
	})
	t.Run("elsewhere if there is no such node", func(t *testing.T) {
		want(t, cluster(node("n"), pod("p", requests("cpu=1"), nominatedFor("gone"))), map[string]string{"p": "on n"})
	})
}

// solveExpecting plans with preemption expected, and checks the plan.
func solveExpecting(t *testing.T, s *scheduling.Snapshot) *scheduling.Plan {
	t.Helper()
	p := solveQuery(t, s, scheduling.Query{Preemption: scheduling.PreemptionExpect})
	checkPlan(t, s, p)
	return p
}

func TestPreemptionIsReported(t *testing.T) {
	s := cluster(node("n", bound(pod("low", requests("cpu=3"), priority(1))), bound(pod("high", requests("cpu=1"), priority(100)))),
		pod("p", requests("cpu=2"), priority(10)))
	const text = "pod default/p preempts default/low on node n, of priority 1 at most"
	p := solve(t, s)
	wantPlace(t, p, "p", "new small/a/spot")
	if len(p.Preemptions) != 1 || p.Preemptions[0].String() != text {
		t.Errorf("preemptions %v, want %s", p.Preemptions, text)
	}
	p = solveExpecting(t, s)
	if len(p.NewNodes)+len(p.Unschedulable)+len(p.Existing) != 0 || len(p.Preemptions) != 1 || p.Preemptions[0].String() != text {
		t.Errorf("expecting preemption: %d new nodes, %v", len(p.NewNodes), p.Preemptions)
	}
}

// DefaultPreemption's rules: what it may preempt, and where it does.
func TestPreemptionChoosesAsKubeScheduler(t *testing.T) {
	low := func(name string, options ...podOption) nodeOption {
		return bound(pod(name, append([]podOption{requests("cpu=4"), priority(1)}, options...)...))
	}
	for _, c := range []struct {
		name  string
		nodes []scheduling.Node
		pod   *corev1.Pod
		want  string // node and victims; empty for none
	}{
		{"never by its policy", []scheduling.Node{node("n", low("v"))}, pod("p", requests("cpu=1"), priority(10), neverPreempting), ""},
		{"not of equal priority", []scheduling.Node{node("n", low("v"))}, pod("p", requests("cpu=1"), priority(1)), ""},
		{"not past a taint", []scheduling.Node{node("n", low("v"), nodeTaints("x=1:NoSchedule"))}, pod("p", requests("cpu=1"), priority(10)), ""},
		{"not past its node selector", []scheduling.Node{node("n", low("v"))}, pod("p", requests("cpu=1"), priority(10), selector(zoneKey+"=b")), ""},
		{"not where all would not do", []scheduling.Node{node("n", low("v"))}, pod("p", requests("cpu=5"), priority(10)), ""},
		{"not where there is room", []scheduling.Node{node("m"), node("n", low("v"))}, pod("p", requests("cpu=1"), priority(10)), ""},
		{"past anti-affinity", []scheduling.Node{node("n", bound(pod("v", requests("cpu=1"), priority(1), labelled("a"))))},
			pod("p", requests("cpu=1"), priority(10), awayFrom(corev1.LabelHostname, "a")), "n v"},
		{"the lowest of the highest priorities", []scheduling.Node{node("m", low("v")), node("n", low("w", priority(0)))},
			pod("p", requests("cpu=1"), priority(10)), "n w"},
		{"as few as will do", []scheduling.Node{node("n", bound(pod("u", requests("cpu=2"), priority(2))), bound(pod("v", requests("cpu=2"), priority(1))))},
			pod("p", requests("cpu=2"), priority(10)), "n v"},
		{"fewer victims", []scheduling.Node{node("m", bound(pod("u", requests("cpu=2"), priority(1))), bound(pod("v", requests("cpu=2"), priority(1)))), node("n", low("w"))},
			pod("p", requests("cpu=4"), priority(10)), "n w"},
		{"those that started last", []scheduling.Node{node("m", low("v", startedAt(1))), node("n", low("w", startedAt(2)))},
			pod("p", requests("cpu=1"), priority(10)), "n w"},
		{"without a budget's pods", []scheduling.Node{node("m", low("v", labelled("guarded"))), node("n", low("w", priority(5)))},
			pod("p", requests("cpu=1"), priority(10)), "n w"},
		{"a budget's pods where there is no other way", []scheduling.Node{node("m", low("v", labelled("guarded")))},
			pod("p", requests("cpu=1"), priority(10)), "m v !"},
		{"a node overcommitted in what it asks for", []scheduling.Node{node("n", low("v"), bound(pod("w", requests("cpu=1"), priority(1), startedAt(1))))},
			pod("p", requests("cpu=4"), priority(10)), "n w v"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := cluster(c.pod)
			s.Nodes = c.nodes
			s.PodDisruptionBudgets = []*policyv1.PodDisruptionBudget{{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "b"},
				Spec: policyv1.PodDisruptionBudgetSpec{Selector: selecting("guarded")}}}
			p := solveExpecting(t, s)
			got := ""
			for _, x := range p.Preemptions {
				got = x.Node
				for _, v := range x.Victims {
					got += " " + v.Name
				}
				if x.BudgetViolations > 0 {
					got += " !"
				}
			}
			if got != c.want {
				t.Errorf("preempts %q, want %q", got, c.want)
			}
		})
	}
}

// A pod that preempts takes what its victims leave and no more: others are planned with what is free.
func TestOthersArePlannedBesidePreemption(t *testing.T) {
	s := cluster(node("n", bound(pod("v", requests("cpu=2"), priority(1)))),
		pod("p", requests("cpu=3"), priority(10)), pod("q", requests("cpu=1"), priority(1)), pod("r", requests("cpu=1"), priority(1)))
	p := solveExpecting(t, s)
	if len(p.Preemptions) != 1 || len(p.NewNodes) != 1 || len(p.Existing) != 1 || len(p.Existing[0].Pods) != 1 {
		t.Errorf("preemptions %v, %d new nodes, existing %v", p.Preemptions, len(p.NewNodes), p.Existing)
	}
}
