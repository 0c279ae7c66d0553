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

// Pods that are planned for the node of one that preempts keep the rules between them: kube-scheduler counts it there as soon as it has
// preempted.
func TestOthersKeepAwayFromWhatPreempts(t *testing.T) {
	disk := onDisk(ebsDisk("vol-1", false))
	for _, c := range []struct {
		name      string
		pod, next []podOption
		want      string
	}{
		{"nothing between them", nil, nil, "on n"},
		{"its anti-affinity", []podOption{awayFrom(corev1.LabelHostname, "q")}, []podOption{labelled("q")}, "new small/a/spot"},
		{"its anti-affinity by zone", []podOption{awayFrom(zoneKey, "q")}, []podOption{labelled("q")}, "new small/b/spot"},
		{"their anti-affinity", []podOption{labelled("p")}, []podOption{awayFrom(corev1.LabelHostname, "p")}, "new small/a/spot"},
		{"a host port", []podOption{onHostPort(80)}, []podOption{onHostPort(80)}, "new small/a/spot"},
		{"a disk", []podOption{disk}, []podOption{disk}, "new small/a/spot"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := solveExpecting(t, cluster(node("n", bound(pod("v", requests("cpu=3"), priority(1)))),
				pod("p", append(c.pod, requests("cpu=3"), priority(10))...), pod("q", append(c.next, requests("cpu=1"), priority(1))...)))
			wantPlace(t, p, "q", c.want)
			if len(p.Preemptions) != 1 {
				t.Errorf("preemptions %v", p.Preemptions)
			}
		})
	}
}

// A pod that is drawn to one that preempts waits for it: it is not there yet.
func TestNoneFollowsWhatPreempts(t *testing.T) {
	p := solveExpecting(t, cluster(nothingNew(), node("n", bound(pod("v", requests("cpu=3"), priority(1)))),
		pod("p", requests("cpu=3"), priority(10), labelled("p")), pod("q", requests("cpu=1"), priority(1), closeTo(corev1.LabelHostname, "p"))))
	wantPlace(t, p, "q", "nowhere")
}

// A victim may leave room for several pods: while it ends, kube-scheduler preempts it for each of them.
func TestSeveralPodsPreemptOne(t *testing.T) {
	victim := node("n", bound(pod("v", requests("cpu=4"), priority(5))))
	p := solveExpecting(t, cluster(victim, pods("p", 2, requests("cpu=2"), priority(10))))
	if len(p.Preemptions) != 2 || len(p.NewNodes)+len(p.Unschedulable) > 0 || p.Preemptions[1].String() != "pod default/p-0 preempts default/v on node n, of priority 5 at most" {
		t.Errorf("preemptions %v, %d new nodes", p.Preemptions, len(p.NewNodes))
	}
	// A pod that could not preempt it waits until it is gone, and is planned for.
	p = solveExpecting(t, cluster(victim, pod("p", requests("cpu=2"), priority(10)), pod("q", requests("cpu=2"), priority(5))))
	wantPlace(t, p, "q", "new small/a/spot")
	// What fits where the victims stay has none of them.
	p = solveExpecting(t, cluster(node("n", bound(pod("v", requests("cpu=2"), priority(2)), pod("w", requests("cpu=2"), priority(1)))),
		pods("p", 2, requests("cpu=2"), priority(10))))
	if len(p.Preemptions) != 2 || len(p.Preemptions[0].Victims)+len(p.Preemptions[1].Victims) != 2 {
		t.Errorf("preemptions %v, want one victim each", p.Preemptions)
	}
}

// Budgets are read as DefaultPreemption does, which passes over those that it can't read and those that select all.
func TestPreemptionReadsBudgetsAsKubeScheduler(t *testing.T) {
	none := policyv1.PodDisruptionBudgetSpec{Selector: &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: "Nonsense"}}}}
	guarded := policyv1.PodDisruptionBudgetSpec{Selector: selecting("guarded")}
	named := func(name string, spec policyv1.PodDisruptionBudgetSpec) *policyv1.PodDisruptionBudget {
		return &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}, Spec: spec}
	}
	disrupted := named("b", guarded)
	disrupted.Status.DisruptedPods = map[string]metav1.Time{"v": {}}
	elsewhere := named("b", guarded)
	elsewhere.Namespace = "other"
	for _, c := range []struct {
		name    string
		budgets []*policyv1.PodDisruptionBudget
		want    string
	}{
		{"one that keeps it", []*policyv1.PodDisruptionBudget{named("b", guarded)}, "m"},
		{"one that can't be read as well", []*policyv1.PodDisruptionBudget{named("a", none), named("b", guarded)}, "m"},
		{"one with an empty selector", []*policyv1.PodDisruptionBudget{named("b", policyv1.PodDisruptionBudgetSpec{Selector: &metav1.LabelSelector{}})}, "n"},
		{"one that has let it go", []*policyv1.PodDisruptionBudget{disrupted}, "n"},
		{"one of another namespace", []*policyv1.PodDisruptionBudget{elsewhere}, "n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := cluster(node("m", bound(pod("w", requests("cpu=4"), priority(5)))), node("n", bound(pod("v", requests("cpu=4"), priority(1), labelled("guarded")))),
				pod("p", requests("cpu=1"), priority(10)))
			s.PodDisruptionBudgets = c.budgets
			if p := solveExpecting(t, s); len(p.Preemptions) != 1 || p.Preemptions[0].Node != c.want {
				t.Errorf("preemptions %v, want on %s", p.Preemptions, c.want)
			}
		})
	}
}
