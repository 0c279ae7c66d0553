package reconcilers

import (
	"context"
	"encoding/json"
	"errors"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/drawknife/drawknife/api/option"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/disruption"
	"github.com/drawknife/drawknife/fake"
	"github.com/drawknife/drawknife/fake/build"
)

// asKarpenter has nodes disrupted by the reference, with its times.
func asKarpenter(o *Options) { o.Disruption.Planner = &disruption.Reference{} }

// disrupt lets seconds go by in which nodes are disrupted too.
func (w *world) disrupt(seconds int) {
	w.t.Helper()
	for range seconds {
		w.cloud.Settle()
		w.watch()
		for _, c := range w.allClaims() {
			if _, err := w.conditions.Reconcile(w.t.Context(), requestFor(c.Name)); err != nil {
				w.t.Logf("conditions of %s: %v", c.Name, err)
			}
		}
		w.watch()
		if _, _, err := w.disruptor.pass(w.t.Context()); err != nil {
			w.t.Logf("pass: %v", err)
		}
		w.disruptor.advance(w.t.Context())
		w.watch()
		w.round()
		time.Sleep(time.Second)
	}
}

// settledNode is a node as node makes it that is nominated no more: the pods it was launched for have had their time.
func (w *world) settledNode(pods ...*corev1.Pod) (*corev1.Node, *v1.NodeClaim) {
	w.t.Helper()
	node, claim := w.node(pods...)
	time.Sleep(w.planner.options.nomination())
	return node, claim
}

// change has f change the pool as a user does.
func (w *world) change(name string, f func(*v1.NodePool)) {
	w.t.Helper()
	pool := get(w, &v1.NodePool{}, name)
	f(pool)
	pool.Generation++
	if err := w.client.Update(w.t.Context(), pool); err != nil {
		w.t.Fatal(err)
	}
	w.pool(name)
	w.pool(name)
}

// API-256, DIS-062, DIS-079, DIS-084, DIS-178, DIS-184, DIS-192, DIS-283 to DIS-285: an empty node goes, fifteen seconds after it was found.
func TestEmptyNodeIsRemoved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, registry := measured(t, asKarpenter)
		_, claim := w.settledNode(newPod("a"))
		w.delete(newPod("a"))
		w.disrupt(14)
		claim = get(w, &v1.NodeClaim{}, claim.Name)
		if claim == nil || claim.DeletionTimestamp != nil || !claim.Conditions().IsTrue(v1.ConditionConsolidatable) {
			t.Fatalf("before fifteen seconds are over: %v", claim)
		}
		w.disrupt(30)
		if claims, nodes := w.allClaims(), w.allNodes(); len(claims)+len(nodes) != 0 {
			t.Errorf("%d claims and %d nodes are left", len(claims), len(nodes))
		}
		all := gathered(t, registry)
		for series, want := range map[string]float64{
			"karpenter_nodeclaims_disrupted_total{capacity_type=spot,consolidation_policy=when_empty_or_underutilized,nodepool=default,reason=empty,termination_mode=graceful}": 1,
			"karpenter_voluntary_disruption_decisions_total{consolidation_type=empty,decision=delete,reason=empty}":                                                             1,
			"karpenter_nodepools_allowed_disruptions{nodepool=default,reason=Empty}":                                                                                            0,
		} {
			if got, ok := all[series]; !ok || got != want {
				t.Errorf("%s is %v (%v), want %v", series, got, ok, want)
			}
		}
		if len(w.events("DisruptionTerminating Node/")) == 0 {
			t.Errorf("events: %q", w.told)
		}
		if n := len(w.disruptor.running); n != 0 {
			t.Errorf("%d commands are remembered", n)
		}
	})
}

// API-243, API-247: a node is cordoned and uncordoned with a note of whose cordon it is, another's is left alone, and the taints
// of all generations are taken off.
func TestMarkersOfNodes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, asKarpenter)
		w.start(asKarpenter)
		node, _ := w.node(newPod("a"))
		do := func(effects ...disruption.Effect) *corev1.Node {
			t.Helper()
			for _, e := range effects {
				if err := w.disruptor.effect(t.Context(), nil, e); err != nil {
					t.Fatal(err)
				}
			}
			return get(w, &corev1.Node{}, node.Name)
		}
		if n := do(disruption.CordonNode{Node: node.Name}, disruption.CordonNode{Node: node.Name}); !n.Spec.Unschedulable || !v1.DisruptionCordoned(n) {
			t.Errorf("cordoned: %+v %v", n.Spec, n.Annotations)
		}
		n := do(disruption.UncordonNode{Node: node.Name})
		if n.Spec.Unschedulable || v1.DisruptionMarked(n) {
			t.Errorf("uncordoned: %+v %v", n.Spec, n.Annotations)
		}
		n.Spec.Unschedulable = true
		n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: "karpenter.sh/disruption", Value: "disrupting", Effect: corev1.TaintEffectNoSchedule})
		if err := w.client.Update(t.Context(), n); err != nil {
			t.Fatal(err)
		}
		if n := do(disruption.TaintNode{Node: node.Name}, disruption.CordonNode{Node: node.Name}); !v1.MarkerTaint.On(n) || v1.DisruptionCordoned(n) {
			t.Errorf("tainted, and cordoned by somebody: %+v %v", n.Spec, n.Annotations)
		}
		if n := do(disruption.UntaintNode{Node: node.Name}, disruption.UncordonNode{Node: node.Name}); v1.DisruptionMarked(n) || !n.Spec.Unschedulable {
			t.Errorf("in the end: %+v", n.Spec)
		}
	})
}

// DIS-073, DIS-196: what a process left that was stopped in a command is undone by the next.
func TestRestartUndoesCommands(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, asKarpenter)
		node, claim := w.node(newPod("a"))
		node.Spec.Taints = append(node.Spec.Taints, v1.DisruptedTaint())
		if err := w.client.Update(t.Context(), node); err != nil {
			t.Fatal(err)
		}
		claim.Conditions().Set(v1.ConditionDisruptionReason, metav1.ConditionTrue, "Drifted", "", time.Now())
		if err := w.client.Status().Update(t.Context(), claim); err != nil {
			t.Fatal(err)
		}
		w.start(asKarpenter)
		w.disrupt(2)
		if hasTaint(get(w, &corev1.Node{}, node.Name), v1.DisruptedTaint()) {
			t.Error("the taint is left")
		}
		if get(w, &v1.NodeClaim{}, claim.Name).Conditions().IsTrue(v1.ConditionDisruptionReason) {
			t.Error("the condition is left")
		}
	})
}

// DIS-092 to DIS-095, DIS-149, DIS-187, DIS-217: a drifted node is replaced before it goes, also in a pool that has no room left in
// its limits.
func TestDriftedNodeIsReplaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, asKarpenter)
		_, claim := w.settledNode(newPod("a"))
		full := claim.Status.Capacity[corev1.ResourceCPU]
		w.change("default", func(p *v1.NodePool) {
			p.Spec.Template.Labels = map[string]string{"team": "blue"}
			p.Spec.Template.Spec.Requirements = []v1.NodeSelectorRequirementWithMinValues{{
				Key: corev1.LabelInstanceTypeStable, Operator: corev1.NodeSelectorOpIn, Values: []string{claim.Labels[corev1.LabelInstanceTypeStable]},
			}}
			p.Spec.Limits = corev1.ResourceList{corev1.ResourceCPU: full}
		})
		replaced := false
		for range 40 {
			w.disrupt(1)
			old := get(w, &v1.NodeClaim{}, claim.Name)
			ready := 0
			for _, c := range w.allClaims() {
				if c.Name != claim.Name && c.Conditions().IsTrue(v1.ConditionInitialized) {
					ready++
				}
			}
			replaced = replaced || ready > 0
			if (old == nil || old.DeletionTimestamp != nil) && !replaced {
				t.Fatal("it goes before its replacement is ready")
			}
		}
		if !replaced {
			t.Fatalf("it is not replaced; events: %q", w.told)
		}
		for _, c := range w.allClaims() {
			if c.Name != claim.Name && c.Labels["team"] != "blue" {
				t.Errorf("the replacement has labels %v", c.Labels)
			}
		}
	})
}

// DIS-186, DIS-190, DIS-194, DIS-232: a replacement that can't be had ends its command: the node is as it was, and its pool is
// left alone for a while.
func TestFailedReplacementIsTakenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, registry := measured(t, asKarpenter)
		node, claim := w.settledNode(newPod("a"))
		if err := w.cloud.Inject(fake.Fault{Method: fake.MethodCreate, Err: cloudprovider.NewInsufficientCapacityError(errors.New("sold out")), More: -1}); err != nil {
			t.Fatal(err)
		}
		w.change("default", func(p *v1.NodePool) { p.Spec.Template.Labels = map[string]string{"team": "blue"} })
		w.disrupt(20)
		if claims := w.allClaims(); len(claims) != 1 || claims[0].UID != claim.UID || claims[0].DeletionTimestamp != nil {
			t.Fatalf("claims: %v", claims)
		}
		if hasTaint(get(w, &corev1.Node{}, node.Name), v1.DisruptedTaint()) || w.allClaims()[0].Conditions().IsTrue(v1.ConditionDisruptionReason) {
			t.Error("what the command did is left")
		}
		if w.feed.state.Node(claim.Name).Marked {
			t.Error("the mark is left")
		}
		all := gathered(t, registry)
		if got := all["karpenter_voluntary_disruption_backoff_failures_total{nodepool=default}"]; got != 1 {
			t.Errorf("%v failures, want one: the pool is left alone", got)
		}
		if got := all["karpenter_voluntary_disruption_queue_failures_total{consolidation_type=,decision=replace,reason=drifted}"]; got != 1 {
			t.Errorf("%v queue failures, want 1", got)
		}
		if n := w.cloud.Calls(fake.MethodCreate); n != 2 {
			t.Errorf("the cloud was asked %d times, want once for the node and once for its replacement", n)
		}
		const left = "karpenter_voluntary_disruption_backoff_seconds{nodepool=default}"
		if _, shown := all[left]; !shown {
			t.Error("how long the pool is left alone is not shown")
		}
		w.delete(w.pool("default"))
		w.disrupt(60)
		if seconds, shown := gathered(t, registry)[left]; shown {
			t.Errorf("the pool is gone and left alone for %gs", seconds)
		}
	})
}

// DIS-087 to DIS-091, DIS-188: a drifted node of a static pool is replaced one for one, and the pool's scale neither takes the
// replacement away nor launches another.
func TestStaticDrift(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, func(o *Options) { asKarpenter(o); o.Features.StaticCapacity = true })
		pool := build.Pool("static")
		pool.Spec.Replicas = new(int64(2))
		pool.Spec.Disruption.Budgets = []v1.Budget{{Nodes: "1"}}
		w.create(pool)
		w.pool("static")
		w.live(10)
		w.change("static", func(p *v1.NodePool) { p.Spec.Template.Labels = map[string]string{"team": "blue"} })
		for range 90 {
			w.disrupt(1)
			w.pool("static")
			staying := 0
			for _, c := range w.allClaims() {
				if c.DeletionTimestamp == nil {
					staying++
				}
			}
			if staying < 2 || staying > 3 {
				t.Fatalf("%d claims that are not deleted, want 2, and one more while one is replaced", staying)
			}
		}
		claims := w.allClaims()
		for _, c := range claims {
			if c.Labels["team"] != "blue" {
				t.Errorf("claim %s has labels %v", c.Name, c.Labels)
			}
		}
		if n := w.cloud.Calls(fake.MethodCreate); len(claims) != 2 || n != 4 {
			t.Errorf("%d claims after %d launches, want 2 after 4", len(claims), n)
		}
	})
}

// The report says why a node stays, in words and as data, and events say the same (DIS-048, DIS-281).
func TestReport(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, asKarpenter)
		kept := newPod("kept")
		kept.Annotations = map[string]string{v1.DoNotDisruptAnnotationKey: "true"}
		node, _ := w.settledNode(kept)
		w.disrupt(1)
		ask := func(query string) DisruptionReport {
			answer := httptest.NewRecorder()
			w.disruptor.ServeHTTP(answer, httptest.NewRequest("GET", DisruptionReportPath+query, nil))
			var report DisruptionReport
			if err := json.Unmarshal(answer.Body.Bytes(), &report); err != nil {
				t.Fatalf("%v: %s", err, answer.Body)
			}
			return report
		}
		report := ask("?node=" + node.Name)
		if len(report.Verdicts) != 1 || !strings.Contains(report.Verdicts[0].Says, "pod default/kept must not be disrupted") ||
			report.Verdicts[0].Blocks[0].Block.Code != disruption.BlockPod || len(report.Budgets) != 3 {
			t.Errorf("report: %+v", report)
		}
		if n := len(ask("?node=other").Verdicts); n != 0 {
			t.Errorf("%d verdicts of another node", n)
		}
		if len(w.events("DisruptionBlocked Node/"+node.Name)) == 0 {
			t.Errorf("events: %q", w.told)
		}
		refused := httptest.NewRecorder()
		if w.disruptor.ServeHTTP(refused, httptest.NewRequest("POST", DisruptionReportPath, nil)); refused.Code != 405 {
			t.Errorf("POST is answered %d", refused.Code)
		}
	})
}

// An approver's refusal is heeded: nothing is done to the node, and it is not proposed again at once.
func TestApproverRefuses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		w := newWorld(t, func(o *Options) {
			asKarpenter(o)
			o.Disruption.Approver = disruption.ApproverFunc(func(context.Context, *disruption.Command) (disruption.Approval, error) {
				asked++
				return disruption.Approval{Decision: disruption.Refused, By: "ops", Reason: "not today"}, nil
			})
		})
		node, _ := w.settledNode(newPod("a"))
		w.delete(newPod("a"))
		w.disrupt(60)
		if n := get(w, &corev1.Node{}, node.Name); n == nil || hasTaint(n, v1.DisruptedTaint()) {
			t.Error("the node is gone, or going")
		}
		if asked != 1 {
			t.Errorf("the approver was asked %d times, want once", asked)
		}
	})
}

// Options that can't be are refused with their names.
func TestDisruptionOptions(t *testing.T) {
	cloud, err := fake.New(fake.GenericTypes(1), fake.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*DisruptionOptions){
		"Disruption.Period":  func(d *DisruptionOptions) { d.Period = new(time.Duration) },
		"Disruption.Budgets": func(d *DisruptionOptions) { d.Budgets = []disruption.Budget{{Name: "x"}} },
	} {
		o := Options{Provider: cloud}
		change(&o.Disruption)
		var wrong *option.Error
		if err := o.complete(); !errors.As(err, &wrong) || !strings.HasPrefix(wrong.Option, name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
