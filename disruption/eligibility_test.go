package disruption_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/disruption"
	"github.com/drawknife/drawknife/scheduling"
	"github.com/drawknife/drawknife/scheduling/cluster"
	schedulingpods "github.com/drawknife/drawknife/scheduling/pods"
)

// Each check by itself, in the order of DIS-048, and which of two speaks.
func TestEligibility(t *testing.T) {
	later := now().Add(10 * time.Second)
	marked := func(m *cluster.NodeState) { m.Marked, m.Leaving = true, true }
	tests := []struct {
		name string
		node []nodeOption
		with func(*world)
		want disruption.BlockCode
		text string
	}{
		{name: "DIS-006 nothing stands in the way"},
		{name: "DIS-049 a command holds it, and is named first", with: func(w *world) {
			w.input.Executing = map[string]string{"n": "c1"}
			w.nodeState("n", marked)
		}, want: disruption.BlockInFlight, text: "command c1"},
		{name: "DIS-002, DIS-050 no NodeClaim", with: func(w *world) {
			w.nodeState("n", func(m *cluster.NodeState) { m.Claim = nil })
		}, want: disruption.BlockUnmanaged},
		{name: "DIS-050 no Node", with: func(w *world) {
			w.nodeState("n", func(m *cluster.NodeState) { m.Node = nil })
		}, want: disruption.BlockNoNode},
		{name: "DIS-003, DIS-051 not initialized, before marked", node: []nodeOption{labelled(v1.NodeInitializedLabelKey, "")}, with: func(w *world) {
			w.nodeState("n", marked)
		}, want: disruption.BlockNotInitialized},
		{name: "DIS-004, DIS-052 marked", with: func(w *world) { w.nodeState("n", marked) }, want: disruption.BlockLeaving},
		{name: "DIS-052 leaving", node: []nodeOption{leaving}, want: disruption.BlockLeaving},
		{name: "DIS-005, DIS-053 nominated", with: func(w *world) {
			w.nodeState("n", func(m *cluster.NodeState) { m.NominatedUntil = later })
		}, want: disruption.BlockNominated, text: "until 2026-05-04T10:00:10Z"},
		{name: "DIS-053 nominated until now is over", with: func(w *world) {
			w.nodeState("n", func(m *cluster.NodeState) { m.NominatedUntil = now() })
		}},
		{name: "DIS-054 node annotation", node: []nodeOption{annotated(v1.DoNotDisruptAnnotationKey, "true")}, want: disruption.BlockAnnotation, text: v1.DoNotDisruptAnnotationKey},
		{name: "DIS-054 a duration does not protect a node", node: []nodeOption{annotated(v1.DoNotDisruptAnnotationKey, "2h")}},
		{name: "DIS-054 false does not protect a node", node: []nodeOption{annotated(v1.DoNotDisruptAnnotationKey, "false")}},
		{name: "DIS-055 no pool label", node: []nodeOption{labelled(v1.NodePoolLabelKey, "")}, want: disruption.BlockNoPool},
		{name: "DIS-056 pool gone", node: []nodeOption{ofPool("gone")}, want: disruption.BlockPoolUnknown, text: `"gone"`},
		{name: "DIS-056 no instance types", with: func(w *world) { w.catalog("all") }, want: disruption.BlockNoInstanceTypes},
		{name: "DIS-056 a pool that is being deleted exists", with: func(w *world) {
			w.pool("default", func(p *v1.NodePool) { p.DeletionTimestamp = &metav1.Time{Time: now()} })
		}},
		{name: "DIS-032 duration not over", node: []nodeOption{holding(pod("p", podAnnotated(v1.DoNotDisruptAnnotationKey, "2h"), started(119*time.Minute)))},
			want: disruption.BlockPod, text: "pod default/p must not be disrupted (annotation karpenter.sh/do-not-disrupt) until 2026-05-04T10:01:00Z"},
		{name: "DIS-032 duration over", node: []nodeOption{holding(pod("p", podAnnotated(v1.DoNotDisruptAnnotationKey, "2h"), started(2*time.Hour)))}},
		{name: "DIS-032 false means nothing", node: []nodeOption{holding(pod("p", podAnnotated(v1.DoNotDisruptAnnotationKey, "false")))}},
		{name: "DIS-034, DIS-057 DaemonSet pods are not exempt", node: []nodeOption{holding(pod("p", owned("DaemonSet"), podAnnotated(v1.DoNotDisruptAnnotationKey, "true")))},
			want: disruption.BlockPod},
		{name: "DIS-034 terminating pods hold nothing", node: []nodeOption{holding(pod("p", terminating, podAnnotated(v1.DoNotDisruptAnnotationKey, "true")))}},
		{name: "DIS-300, DIS-311 do-not-evict", node: []nodeOption{holding(pod("p", podAnnotated("karpenter.sh/do-not-evict", "true")))}, want: disruption.BlockPod},
		{name: "DIS-045, DIS-058 budget allows none", node: []nodeOption{holding(pod("p", app("x")))}, with: func(w *world) { w.pdb("b", "x", 0) },
			want: disruption.BlockPodDisruptionBudget, text: "default/b"},
		{name: "DIS-319 scenario 4, DIS-045: three pods of a budget that allows one", node: []nodeOption{holding(pod("p", app("x")), pod("q", app("x")), pod("r", app("x")))},
			with: func(w *world) { w.pdb("b", "x", 1) }},
		{name: "DIS-319 scenario 4, DIS-043: two budgets", node: []nodeOption{holding(pod("p", app("x")))}, with: func(w *world) { w.pdb("b", "x", 5); w.pdb("c", "x", 5) },
			want: disruption.BlockPodDisruptionBudget, text: "several"},
		{name: "DIS-319 scenario 4, DIS-042: mirror pods have no budget", node: []nodeOption{holding(pod("p", app("x"), owned("Node")))}, with: func(w *world) { w.pdb("b", "x", 0) }},
		{name: "DIS-060 labels are not asked for yet", node: []nodeOption{
			labelled(corev1.LabelInstanceTypeStable, ""), labelled(corev1.LabelTopologyZone, ""), labelled(v1.CapacityTypeLabelKey, ""),
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld()
			w.node("n", "c4", tt.node...)
			if tt.with != nil {
				tt.with(w)
			}
			f := w.fleet(t)
			why := f.Blocked["n"]
			switch {
			case tt.want == "" && (why != nil || f.Candidate("n") == nil):
				t.Errorf("blocked: %v", why)
			case tt.want != "" && (why == nil || why.Code != tt.want):
				t.Errorf("block %v, want %s", why, tt.want)
			case tt.want != "" && !strings.Contains(why.String(), tt.text):
				t.Errorf("%q does not say %q", why, tt.text)
			}
		})
	}
}

// DIS-059, DIS-026, DIS-247: with a terminationGracePeriod pods hold a node back from graceful methods alone.
func TestEligibilityEventual(t *testing.T) {
	protected := pod("p", podAnnotated(v1.DoNotDisruptAnnotationKey, "true"))
	for _, with := range []bool{true, false} {
		w := newWorld()
		options := []nodeOption{holding(protected), drifted(time.Hour)}
		want := [2]disruption.BlockCode{disruption.BlockPod, disruption.BlockPod}
		if with {
			options = append(options, grace(time.Hour))
			want[0] = ""
		}
		w.node("n", "c4", options...)
		f := w.fleet(t)
		got := [2]disruption.BlockCode{blocked(f, disruption.MethodDrift, "n"), blocked(f, disruption.MethodSingleNode, "n")}
		if got != want {
			t.Errorf("terminationGracePeriod %v: drift and consolidation blocked by %q, want %q", with, got, want)
		}
	}
}

// DIS-047: a budget that can't be read ends it all, since nobody knows what it protects.
func TestSurveyUnreadableBudget(t *testing.T) {
	w := newWorld()
	w.node("n", "c4")
	w.pdb("b", "x", 1).Spec.Selector.MatchExpressions = []metav1.LabelSelectorRequirement{{Key: "k", Operator: "Sometimes"}}
	_, err := disruption.Survey(disruption.Input{View: disruption.ViewOf(w.snapshot)})
	var fault *schedulingpods.BudgetError
	if !errors.As(err, &fault) {
		t.Errorf("error %v, want a BudgetError", err)
	}
}

func TestSurveyRefusesInput(t *testing.T) {
	w := newWorld()
	w.node("n", "c4")
	for name, view := range map[string]*cluster.View{
		"none": nil, "no snapshot": {}, "no nodes": {Snapshot: w.snapshot},
	} {
		var fault *disruption.InputError
		if _, err := disruption.Survey(disruption.Input{View: view}); !errors.As(err, &fault) {
			t.Errorf("%s: error %v, want an InputError", name, err)
		}
	}
}

// A pool whose key is left out is the one of its object's name: candidates, budgets and plans are the same.
func TestPoolsWithoutKeys(t *testing.T) {
	w := newWorld()
	w.pool("default").Spec.Disruption.Budgets = []v1.Budget{{Nodes: "1"}}
	w.node("a", "c8", holding(pods("a", 3, "1")...))
	w.node("b", "c8", holding(pods("b", 4, "1")...))
	w.node("idle", "c4")
	named, unnamed := w.snapshot, *w.snapshot
	unnamed.NodePools = slices.Clone(named.NodePools)
	unnamed.NodePools[0].Key = v1.PoolKey{}
	for name, planner := range map[string]disruption.Planner{"Reference": &disruption.Reference{}, "Global": &disruption.Global{}} {
		want, err := planner.Plan(t.Context(), surveyed(t, named))
		if err != nil {
			t.Fatal(err)
		}
		got, err := planner.Plan(t.Context(), surveyed(t, &unnamed))
		if err != nil {
			t.Fatal(err)
		}
		if len(want.Commands) == 0 {
			t.Errorf("%s: no commands, so that nothing is compared", name)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-with keys +without):\n%s", name, diff)
		}
	}
}

// DIS-001: labels are the claim's until the node is registered.
func TestLabelsBeforeRegistration(t *testing.T) {
	w := newWorld()
	n := w.node("n", "c4")
	n.Claim.Labels[corev1.LabelTopologyZone] = "b"
	if got := w.fleet(t).Candidate("n").Zone; got != "a" {
		t.Errorf("zone %q, want the node's", got)
	}
	delete(n.Object.Labels, v1.NodeRegisteredLabelKey)
	if got := w.fleet(t).Candidate("n").Zone; got != "b" {
		t.Errorf("zone %q before registration, want the claim's", got)
	}
}

// What each method asks of a candidate.
func TestAccepts(t *testing.T) {
	const empty, single, drift, static = disruption.MethodEmptiness, disruption.MethodSingleNode, disruption.MethodDrift, disruption.MethodStaticDrift
	p := pod("p")
	unfinished := func(n *scheduling.Node) { n.Claim.Conditions().Clear(v1.ConditionInitialized, now()) }
	cheap := pod("p", podAnnotated(corev1.PodDeletionCost, "-2147483647"))
	tests := []struct {
		name   string
		node   []nodeOption
		pool   []func(*v1.NodePool)
		with   func(*world)
		method disruption.Method
		want   disruption.BlockCode
	}{
		{"DIS-079 empty", nil, nil, nil, empty, ""},
		{"DIS-079 whatever the policy", nil, []func(*v1.NodePool){policy(v1.ConsolidationPolicyWhenEmpty)}, nil, empty, ""},
		{"DIS-079 whatever the policy, Balanced", nil, []func(*v1.NodePool){policy(v1.ConsolidationPolicyBalanced)}, nil, empty, ""},
		{"DIS-009, DIS-079 static", nil, []func(*v1.NodePool){replicas(1)}, nil, empty, disruption.BlockStatic},
		{"DIS-011, DIS-080 Never", nil, []func(*v1.NodePool){after("Never")}, nil, empty, disruption.BlockNever},
		{"DIS-079, DIS-080 buffer", nil, nil, func(w *world) { w.input.Buffered = map[string]bool{"n": true} }, empty, disruption.BlockBuffer},
		{"DIS-079 a pod", []nodeOption{holding(p)}, nil, nil, empty, disruption.BlockNotEmpty},
		{"DIS-085, DIS-125 a pod that is worth nothing", []nodeOption{holding(cheap)}, nil, nil, empty, ""},
		{"DIS-086 only pods that stay or are over", []nodeOption{holding(
			pod("d", owned("DaemonSet")), pod("m", owned("Node")), pod("e", ended), pod("t", terminating))}, nil, nil, empty, ""},
		{"DIS-086 a StatefulSet's successor", []nodeOption{holding(pod("s", terminating, owned("StatefulSet")))}, nil, nil, empty, disruption.BlockNotEmpty},
		{"DIS-065 waiting", nil, []func(*v1.NodePool){after("48h")}, nil, empty, disruption.BlockQuiet},
		{"DIS-064, DIS-104 initialized by the label, not by the condition", []nodeOption{unfinished}, nil, nil, empty, disruption.BlockNotInitialized},
		{"DIS-099 static", []nodeOption{holding(p)}, []func(*v1.NodePool){replicas(1)}, nil, single, disruption.BlockStatic},
		{"DIS-100 unknown type", []nodeOption{holding(p), labelled(corev1.LabelInstanceTypeStable, "other")}, nil, nil, single, disruption.BlockInstanceTypeUnknown},
		{"DIS-100 no capacity type", []nodeOption{holding(p), bought("")}, nil, nil, single, disruption.BlockNoLabel},
		{"DIS-100 no zone", []nodeOption{holding(p), labelled(corev1.LabelTopologyZone, "")}, nil, nil, single, disruption.BlockNoLabel},
		{"DIS-101 Never", []nodeOption{holding(p)}, []func(*v1.NodePool){after("Never")}, nil, single, disruption.BlockNever},
		{"DIS-102 empty", nil, nil, nil, single, disruption.BlockEmpty},
		{"DIS-103 WhenEmpty", []nodeOption{holding(p)}, []func(*v1.NodePool){policy(v1.ConsolidationPolicyWhenEmpty)}, nil, single, disruption.BlockPolicy},
		{"DIS-104 waiting", []nodeOption{holding(p)}, []func(*v1.NodePool){after("48h")}, nil, single, disruption.BlockQuiet},
		{"DIS-104", []nodeOption{holding(p)}, nil, nil, single, ""},
		{"DIS-300 do-not-consolidate", []nodeOption{holding(p), annotated("karpenter.sh/do-not-consolidate", "true")}, nil, nil, single, disruption.BlockAnnotation},
		{"DIS-311 do-not-consolidate leaves drift alone", []nodeOption{drifted(time.Hour), annotated("karpenter.sh/do-not-consolidate", "true")}, nil, nil, drift, ""},
		{"DIS-092 drifted, whatever consolidateAfter", []nodeOption{drifted(time.Hour)}, []func(*v1.NodePool){after("Never")}, nil, drift, ""},
		{"DIS-092 not drifted", nil, nil, nil, drift, disruption.BlockNotDrifted},
		{"DIS-092 static", []nodeOption{drifted(time.Hour)}, []func(*v1.NodePool){replicas(1)}, nil, drift, disruption.BlockStatic},
		{"DIS-087 static", []nodeOption{drifted(time.Hour)}, []func(*v1.NodePool){replicas(1)}, nil, static, ""},
		{"DIS-087 not static", []nodeOption{drifted(time.Hour)}, nil, nil, static, disruption.BlockNotStatic},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld()
			w.pool("default", tt.pool...)
			w.node("n", "c4", tt.node...)
			if tt.with != nil {
				tt.with(w)
			}
			if got := blocked(w.fleet(t), tt.method, "n"); got != tt.want {
				t.Errorf("blocked by %q, want %q", got, tt.want)
			}
		})
	}
}

// DIS-123, DIS-124, DIS-128, DIS-130: what disturbing and removing a node is worth.
func TestCandidateNumbers(t *testing.T) {
	w := newWorld()
	w.node("n", "c4", holding(pod("p"), pod("q", podAnnotated(corev1.PodDeletionCost, "134217728")), pod("d", owned("DaemonSet")),
		pod("r", podAnnotated(corev1.PodDeletionCost, "-2147483647"))))
	w.node("unknown", "other", holding(pod("u")))
	f := w.fleet(t)
	c := f.Candidate("n")
	if c.Cost != 4 || c.Price != 0.2 || !c.Priced || len(c.Pods) != 3 {
		t.Errorf("cost %g, price %g, priced %v, %d pods; want 1 + 1 + 2, 0.2, true, 3", c.Cost, c.Price, c.Priced, len(c.Pods))
	}
	if c := f.Candidate("unknown"); c.Price != 0 || c.Priced {
		t.Errorf("price %g of an unknown type", c.Price)
	}
}

// DIS-128: also an offering that is not available has its price.
func TestCandidatePriceUnavailable(t *testing.T) {
	w := newWorld()
	for i := range w.snapshot.Catalogs["all"][1].Offerings {
		w.snapshot.Catalogs["all"][1].Offerings[i].Available = false
	}
	w.node("n", "c4")
	if c := w.fleet(t).Candidate("n"); c.Price != 0.2 {
		t.Errorf("price %g, want 0.2", c.Price)
	}
}

// DIS-126, DIS-127: the cost by which static pools choose.
func TestLegacyCost(t *testing.T) {
	w := newWorld()
	n := w.node("n", "c4", holding(pod("p"), pod("d", owned("DaemonSet"))))
	n.Claim.Spec.ExpireAfter = v1.NewNillableDuration(96 * time.Hour)
	w.node("forever", "c4", holding(pod("q")))
	f := w.fleet(t)
	if got := f.Candidate("n").LegacyCost(now()); got != 1.5 {
		t.Errorf("cost %g of two pods with three quarters of life left, want 1.5", got)
	}
	if got := f.Candidate("forever").LegacyCost(now()); got != 1 {
		t.Errorf("cost %g of a node that never expires, want 1", got)
	}
}

// DIS-062, DIS-064, DIS-065, DIS-066, DIS-063: the condition comes when the waiting time is over and goes when it begins again.
func TestMarkConsolidatable(t *testing.T) {
	w := newWorld()
	pool := w.pool("default", after("30m"))
	n := w.node("n", "c4")
	m := &cluster.NodeState{Claim: n.Claim}
	check := func(what string, changed, has bool, again time.Duration) {
		t.Helper()
		claim := n.Claim.DeepCopy()
		c, a := disruption.MarkConsolidatable(claim, m, pool, now())
		if c != changed || claim.Conditions().IsTrue(v1.ConditionConsolidatable) != has || a != again {
			t.Errorf("%s: changed %v, condition %v, again in %s; want %v, %v, %s", what, c, claim.Conditions().IsTrue(v1.ConditionConsolidatable), a, changed, has, again)
		}
		n.Claim = claim
	}
	check("quiet since it was initialized", true, true, 0)
	check("again", false, true, 0)
	m.LastPodEvent = now().Add(-10 * time.Minute)
	check("a pod came ten minutes ago", true, false, 20*time.Minute)
	m.LastPodEvent = now().Add(-30 * time.Minute)
	check("just over", true, true, 0)
	after("Never")(pool)
	check("Never", true, false, 0)
	after("0s")(pool)
	m.LastPodEvent = now()
	check("0s", true, true, 0)
	replicas(1)(pool)
	check("static", true, false, 0)
	pool.Spec.Replicas = nil
	n.Claim.DeletionTimestamp = &metav1.Time{Time: now()}
	check("being deleted", false, false, 0)
}

// DIS-048: whether anybody needs to hear of it.
func TestBlockSilent(t *testing.T) {
	for code, silent := range map[disruption.BlockCode]bool{
		disruption.BlockInFlight: true, disruption.BlockUnmanaged: true, disruption.BlockPod: false, disruption.BlockNoPool: false,
	} {
		if got := (&disruption.Block{Code: code}).Silent(); got != silent {
			t.Errorf("%s: silent %v", code, got)
		}
	}
}

// DIS-135: five pods without a place are named, the others counted.
func TestBlockNamesFivePods(t *testing.T) {
	b := &disruption.Block{Code: disruption.BlockUnschedulable}
	for i := range 7 {
		b.Pods = append(b.Pods, scheduling.PodKey{Namespace: "a", Name: fmt.Sprint("p", i)})
	}
	if got, want := b.String(), "pods would have no place: a/p0, a/p1, a/p2, a/p3, a/p4, and 2 more"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// Every code makes a sentence of its own, also one whose operands somebody left out.
func TestBlockSentences(t *testing.T) {
	seen := map[string]disruption.BlockCode{}
	for _, code := range codes() {
		s := (&disruption.Block{Code: code, Pod: scheduling.PodKey{Namespace: "a", Name: "b"}}).String()
		if s == string(code) || s == "" {
			t.Errorf("%s has no sentence", code)
		}
		if other, twice := seen[s]; twice {
			t.Errorf("%s and %s say the same", code, other)
		}
		seen[s] = code
	}
}

// A price that is not known is not told as 0.
func TestBlockUnknownPrice(t *testing.T) {
	for _, b := range []*disruption.Block{{Code: disruption.BlockNotCheaper}, {Code: disruption.BlockNotCheaper, Floor: 0.5}, {Code: disruption.BlockFloor, Floor: 0.5}} {
		if s := b.String(); strings.Contains(s, "0.0000") || !strings.Contains(s, "what it costs is not known") {
			t.Errorf("%s says %q", b.Code, s)
		}
	}
}

func codes() []disruption.BlockCode {
	return []disruption.BlockCode{
		disruption.BlockInFlight, disruption.BlockUnmanaged, disruption.BlockNoNode, disruption.BlockNotInitialized, disruption.BlockLeaving,
		disruption.BlockNominated, disruption.BlockAnnotation, disruption.BlockNoPool, disruption.BlockPoolUnknown, disruption.BlockNoInstanceTypes,
		disruption.BlockPod, disruption.BlockPodDisruptionBudget, disruption.BlockStatic, disruption.BlockNotStatic, disruption.BlockNever,
		disruption.BlockQuiet, disruption.BlockBuffer, disruption.BlockNotEmpty, disruption.BlockEmpty, disruption.BlockPolicy,
		disruption.BlockInstanceTypeUnknown, disruption.BlockNoLabel, disruption.BlockNotDrifted, disruption.BlockBudget, disruption.BlockScalingDown,
		disruption.BlockLimit, disruption.BlockBackOff, disruption.BlockUnschedulable, disruption.BlockDependsOnUninitialized, disruption.BlockManyNodes,
		disruption.BlockNotCheaper, disruption.BlockMinValues, disruption.BlockSpotToSpot, disruption.BlockFewTypes, disruption.BlockScore,
		disruption.BlockNoBatch, disruption.BlockNotReached, disruption.BlockRefused, disruption.BlockReceiver, disruption.BlockLater,
		disruption.BlockRobustness, disruption.BlockCoolDown, disruption.BlockNoGain, disruption.BlockPayBack, disruption.BlockDrain,
		disruption.BlockFloor, disruption.BlockGang,
	}
}

// DIS-008, DIS-026, DIS-074: the methods in their order.
func TestMethods(t *testing.T) {
	want := []disruption.Method{disruption.MethodEmptiness, disruption.MethodStaticDrift, disruption.MethodDrift, disruption.MethodMultiNode, disruption.MethodSingleNode}
	if got := disruption.Methods(); !slices.Equal(got, want) {
		t.Errorf("order %v", got)
	}
	for m, is := range map[disruption.Method][3]string{
		disruption.MethodEmptiness:   {"Empty", "Graceful", "empty"},
		disruption.MethodStaticDrift: {"Drifted", "Eventual", ""},
		disruption.MethodDrift:       {"Drifted", "Eventual", ""},
		disruption.MethodMultiNode:   {"Underutilized", "Graceful", "multi"},
		disruption.MethodSingleNode:  {"Underutilized", "Graceful", "single"},
	} {
		if got := [3]string{string(m.Reason()), string(m.Class()), m.ConsolidationType()}; got != is {
			t.Errorf("%s: %v, want %v", m, got, is)
		}
	}
}

// DIS-036: a pod of a StatefulSet that has ended and is being deleted has a successor to come: its node is not removed unless
// that has a place. One of a ReplicaSet has none.
func TestEndedPodsAwaited(t *testing.T) {
	for _, c := range []struct {
		kind string
		room bool
		want int
	}{{"StatefulSet", false, 0}, {"StatefulSet", true, 1}, {"ReplicaSet", false, 1}} {
		w := newWorld()
		size := "c2"
		if c.room {
			size = "c8"
		}
		w.node("a", "c4", holding(pod("p", asks("cpu=3"), owned(c.kind), terminating, ended), pod("q", asks("cpu=100m"))))
		w.node("b", size, holding(pod("r", asks("cpu=1"))), annotated(v1.DoNotDisruptAnnotationKey, "true"))
		plan, err := thrifty().Plan(t.Context(), w.fleet(t))
		if err != nil {
			t.Fatal(err)
		}
		removed := 0
		for _, cmd := range plan.Commands {
			if slices.Contains(cmd.Nodes(), "a") && len(cmd.Replacements) == 0 {
				removed++
			}
		}
		if removed != c.want {
			t.Errorf("a %s's pod, room %v: the node is removed by %d commands, want %d: %v", c.kind, c.room, removed, c.want, plan.Commands)
		}
	}
}
