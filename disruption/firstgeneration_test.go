package disruption_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/api/v1alpha5"
	"github.com/drawknife/drawknife/disruption"
	"github.com/drawknife/drawknife/internal/seeded"
	"github.com/drawknife/drawknife/scheduling"
	"github.com/drawknife/drawknife/scheduling/cluster"
)

// alphaKey is the key of the world's pool that was created as v1alpha5; its name is that of a later pool, too.
var alphaKey = v1.PoolKey{Generation: v1.GenerationV1Alpha5, Name: "default"}

// alphaPool adds the pool of alphaKey: without budgets, and consolidated at once.
func (w *world) alphaPool(change ...func(*v1.NodePool)) *v1.NodePool {
	pool := w.pool("born alpha", change...)
	pool.Name = alphaKey.Name
	w.snapshot.NodePools[len(w.snapshot.NodePools)-1].Key = alphaKey
	if len(pool.Spec.Disruption.Budgets) == 0 {
		pool.Spec.Disruption.Budgets = nil
	}
	return pool
}

// ofAlpha has the node be one of alphaKey's.
func ofAlpha(n *scheduling.Node) {
	labelled(v1.NodePoolLabelKey, "")(n)
	labelled(v1alpha5.ProvisionerNameLabelKey, alphaKey.Name)(n)
}

// API-232, API-437, API-447: the wait of an empty node of the first generation goes on from when an old release found it empty, also
// for the condition, unless pods came or went since; on nodes of later pools the annotation says nothing.
func TestEmptinessTimestampSeedsTheWait(t *testing.T) {
	stamp := func(ago time.Duration) nodeOption {
		return annotated(v1alpha5.EmptinessTimestampAnnotationKey, now().Add(-ago).Format(time.RFC3339))
	}
	for _, c := range []struct {
		name  string
		node  []nodeOption
		event time.Duration // how long ago a pod came or went; 0 is none
		until time.Duration // from now; 0: it goes
	}{
		{"found empty lately", []nodeOption{ofAlpha, stamp(10 * time.Second)}, 0, 20 * time.Second},
		{"found empty long enough ago", []nodeOption{ofAlpha, stamp(30 * time.Second)}, 0, 0},
		{"never found empty", []nodeOption{ofAlpha}, 0, 0},
		{"pods since", []nodeOption{ofAlpha, stamp(time.Hour)}, 5 * time.Second, 25 * time.Second},
		{"pods before", []nodeOption{ofAlpha, stamp(10 * time.Second)}, time.Hour, 20 * time.Second},
		{"before it was initialised", []nodeOption{ofAlpha, stamp(48 * time.Hour)}, 0, 0},
		{"no time", []nodeOption{ofAlpha, annotated(v1alpha5.EmptinessTimestampAnnotationKey, "lately")}, 0, 0},
		{"a time to come", []nodeOption{ofAlpha, stamp(-time.Hour)}, 0, 0},
		{"of a later pool", []nodeOption{stamp(10 * time.Second)}, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld()
			w.pool("default", after("30s"))
			w.alphaPool(after("30s"), budgets(v1.Budget{Nodes: "100%"}))
			w.node("idle", "c4", c.node...)
			if c.event > 0 {
				w.nodeState("idle", func(m *cluster.NodeState) { m.LastPodEvent = now().Add(-c.event) })
			}
			for name, planner := range map[string]disruption.Planner{"Reference": &disruption.Reference{}, "Global": &disruption.Global{CoolDown: new(time.Duration)}} {
				plan, err := planner.Plan(t.Context(), w.fleet(t))
				if err != nil {
					t.Fatal(err)
				}
				if goes := len(plan.Commands) == 1; goes != (c.until == 0) {
					t.Errorf("%s: %q", name, said(plan))
				}
				if b := why(t, plan, "idle", disruption.MethodEmptiness); c.until > 0 && (b.Code != disruption.BlockQuiet || !b.Until.Equal(now().Add(c.until))) {
					t.Errorf("%s: %s", name, b)
				}
			}
			f := w.fleet(t)
			m := f.Candidate("idle").State
			claim := m.Claim.DeepCopy()
			_, again := disruption.MarkConsolidatable(claim, m, f.Candidate("idle").Pool.Object, now())
			if again != c.until || claim.Conditions().IsTrue(v1.ConditionConsolidatable) != (c.until == 0) {
				t.Errorf("the condition is %+v, again in %s", claim.Conditions().Get(v1.ConditionConsolidatable), again)
			}
		})
	}
}

// API-227, API-228, API-229: the annotations of the first generation keep its nodes and pods: do-not-evict from all that is voluntary,
// do-not-consolidate from consolidation, not from drift.
func TestAnnotationsOfTheFirstGeneration(t *testing.T) {
	w := newWorld()
	onlyTypes(instanceType("c4", 4, "on-demand=0.2"))(w)
	w.alphaPool(budgets(v1.Budget{Nodes: "100%"}))
	w.node("room", "c4", kept)
	w.node("held", "c4", ofAlpha, drifted(1), holding(pod("a", podAnnotated("karpenter.sh/do-not-evict", "true"))))
	w.node("left", "c4", ofAlpha, annotated("karpenter.sh/do-not-consolidate", "true"), holding(pods("b", 1, "1")...))
	w.node("drifted", "c4", ofAlpha, annotated("karpenter.sh/do-not-consolidate", "true"), drifted(1), holding(pods("c", 1, "1")...))
	w.node("free", "c4", ofAlpha, holding(pods("d", 1, "1")...))
	f := w.fleet(t)
	if b := f.Blocked["held"]; b == nil || b.Code != disruption.BlockPod {
		t.Errorf("held: %v", b)
	}
	for _, c := range []struct {
		method disruption.Method
		node   string
		want   disruption.BlockCode
	}{
		{disruption.MethodSingleNode, "left", disruption.BlockAnnotation}, {disruption.MethodSingleNode, "drifted", disruption.BlockAnnotation}, {disruption.MethodSingleNode, "free", ""},
		{disruption.MethodDrift, "drifted", ""},
	} {
		if got := blocked(f, c.method, c.node); got != c.want {
			t.Errorf("%s, %s: %q, want %q", c.method, c.node, got, c.want)
		}
	}
}

// API-410: of a pool that was created as v1alpha5 one drifted node at a time may go, whatever the default budget says,
// unless the pool has budgets of its own; consolidation goes as for all pools.
func TestDriftOfAlphaPools(t *testing.T) {
	tenPercent := v1.Budget{Nodes: v1.DefaultBudgetNodes}
	for _, c := range []struct {
		name    string
		budgets []v1.Budget
		fill    func(*world)
		reason  disruption.Reason
		want    int
	}{
		{"none: one of thirty", nil, func(w *world) { w.fill("n", 30, ofAlpha) }, disruption.ReasonDrifted, 1},
		{"the one that defaulting writes: one of thirty", []v1.Budget{tenPercent}, func(w *world) { w.fill("n", 30, ofAlpha) }, disruption.ReasonDrifted, 1},
		{"its own", []v1.Budget{{Nodes: "4"}}, func(w *world) { w.fill("n", 30, ofAlpha) }, disruption.ReasonDrifted, 4},
		{"its own, of ten percent at times", []v1.Budget{tenPercent, {Nodes: "2"}}, func(w *world) { w.fill("n", 30, ofAlpha) }, disruption.ReasonDrifted, 2},
		{"one is under way", nil, func(w *world) { w.fill("n", 30, ofAlpha); w.node("x", "c4", ofAlpha, leaving) }, disruption.ReasonDrifted, 0},
		{"one of the later pool is under way", nil, func(w *world) { w.fill("n", 30, ofAlpha); w.node("x", "c4", leaving) }, disruption.ReasonDrifted, 1},
		{"empty nodes go by the default", nil, func(w *world) { w.fill("n", 30, ofAlpha) }, disruption.ReasonEmpty, 3},
		{"a later pool of the name", nil, func(w *world) { w.fill("n", 30) }, disruption.ReasonDrifted, 30},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld()
			pool := w.alphaPool()
			pool.Spec.Disruption.Budgets = c.budgets
			c.fill(w)
			f, l := w.tracker(t)
			if got := allowed(f, l, c.reason); got != c.want {
				t.Errorf("%d may go, want %d: %+v", got, c.want, l.Uses())
			}
		})
	}
}

// API-410: the verdict of a node that waits for its turn says whose rule it waits for, in both planners.
func TestDriftOneByOneIsExplained(t *testing.T) {
	for name, planner := range map[string]disruption.Planner{"Reference": &disruption.Reference{}, "Global": &disruption.Global{CoolDown: new(time.Duration)}} {
		w := newWorld()
		w.alphaPool(after("Never"))
		for i := range 12 {
			w.node(fmt.Sprintf("n-%02d", i), "c4", ofAlpha, drifted(10), holding(pods(fmt.Sprint("p", i), 4, "1")...))
		}
		w.input.Executing = map[string]string{"n-00": "earlier"}
		plan, err := planner.Plan(context.Background(), w.fleet(t))
		if err != nil || len(plan.Commands) != 0 {
			t.Fatalf("%s: %v, %v", name, said(plan), err)
		}
		b := why(t, plan, "n-07", disruption.MethodDrift)
		const want = "the rule that nodepool v1alpha5/default, created as v1alpha5 without budgets, replaces one drifted node at a time allows 1 and 1 are in use, " +
			"1 by nodes that are not ready or on their way out"
		if b.Code != disruption.BlockBudget || b.String() != want {
			t.Errorf("%s: %s %q, want %q", name, b.Code, b, want)
		}
	}
}

// API-410, API-403: whatever else goes on in the cluster, over passes that begin commands and end them in any order, no pass of
// either planner begins the drift of a node of such a pool while one of its nodes is being disrupted, and none begins two; and
// all have gone in the end.
func TestAlphaPoolsDriftOneByOne(t *testing.T) {
	seeded.Times(t, 60, func(rt *rapid.T) {
		w := newWorld()
		var extra []func(*v1.NodePool)
		if rapid.Bool().Draw(rt, "no consolidation") {
			extra = append(extra, after("Never"))
		}
		pool := w.alphaPool(extra...)
		if rapid.Bool().Draw(rt, "defaulted") {
			pool.Default()
		}
		var planner disruption.Planner = &disruption.Reference{}
		if rapid.Bool().Draw(rt, "global") {
			planner = drawnPlanner(rt)
		}
		for i := range rapid.IntRange(2, 14).Draw(rt, "nodes") {
			options := []nodeOption{holding(pods(fmt.Sprint("p", i), rapid.IntRange(0, 4).Draw(rt, "pods"), "1")...)}
			if rapid.IntRange(0, 3).Draw(rt, "alpha") > 0 {
				options = append(options, ofAlpha)
			}
			if rapid.IntRange(0, 3).Draw(rt, "drifted") > 0 {
				options = append(options, drifted(1))
			}
			w.node(fmt.Sprintf("n-%02d", i), "c4", options...)
		}
		w.input.Executing = map[string]string{}
		ofPool := func(name string) bool {
			for i := range w.snapshot.Nodes {
				if w.snapshot.Nodes[i].Name == name {
					return w.snapshot.Nodes[i].Pool == alphaKey
				}
			}
			return false
		}
		for range 60 {
			before := 0
			for name := range w.input.Executing {
				if ofPool(name) {
					before++
				}
			}
			plan, err := planner.Plan(t.Context(), w.fleet(t))
			if err != nil {
				rt.Fatal(err)
			}
			begun := 0
			for _, cmd := range plan.Commands {
				for _, m := range cmd.Members {
					if cmd.Reason == disruption.ReasonDrifted && m.Pool == alphaKey {
						begun++
					}
					w.input.Executing[m.Node] = cmd.ID
				}
			}
			if begun > max(0, 1-before) {
				rt.Fatalf("the drift of %d nodes begins while %d are being disrupted: %s", begun, before, said(plan))
			}
			if len(w.input.Executing) == 0 {
				break
			}
			done := rapid.SampledFrom(slices.Sorted(maps.Keys(w.input.Executing))).Draw(rt, "done")
			delete(w.input.Executing, done)
			w.snapshot.Nodes = slices.DeleteFunc(w.snapshot.Nodes, func(n scheduling.Node) bool { return n.Name == done })
		}
		var left []string
		for i := range w.snapshot.Nodes {
			if n := &w.snapshot.Nodes[i]; n.Pool == alphaKey && n.Claim.Conditions().IsTrue(v1.ConditionDrifted) {
				left = append(left, n.Name)
			}
		}
		if len(left) > 0 {
			rt.Fatalf("%s have drifted and stay", strings.Join(left, ", "))
		}
	})
}
