package disruption_test

import (
	"fmt"
	"math"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"pgregory.net/rapid"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/disruption"
	"github.com/drawknife/drawknife/internal/seeded"
	"github.com/drawknife/drawknife/scheduling"
)

// carryOut does what the command plans: members go, pods move, the replacement has come up as its cheapest type.
func (w *world) carryOut(t *rapid.T, cmd *disruption.Command, round int) {
	moved := map[scheduling.PodKey]*corev1.Pod{}
	gone := map[string]bool{}
	for _, m := range cmd.Members {
		gone[m.Node] = true
	}
	var left []scheduling.Node
	for _, n := range w.snapshot.Nodes {
		if !gone[n.Name] {
			left = append(left, n)
			continue
		}
		for _, p := range n.Pods {
			moved[scheduling.PodKey{Namespace: p.Namespace, Name: p.Name}] = p
		}
	}
	w.snapshot.Nodes = left
	take := func(n *scheduling.Node, keys []scheduling.PodKey) {
		for _, key := range keys {
			p := moved[key]
			if p == nil {
				t.Fatalf("%s: pod %s is to go to %s and does not move", cmd, key, n.Name)
			}
			delete(moved, key)
			p = p.DeepCopy()
			holding(p)(n)
		}
		free := n.Object.Status.Allocatable.Cpu().MilliValue()
		for _, p := range n.Pods {
			free -= p.Spec.Containers[0].Resources.Requests.Cpu().MilliValue()
		}
		if free < 0 {
			t.Fatalf("%s: node %s is over its capacity by %d millicores", cmd, n.Name, -free)
		}
	}
	for _, r := range cmd.Receivers {
		for i := range w.snapshot.Nodes {
			if w.snapshot.Nodes[i].Name == r.Name {
				take(&w.snapshot.Nodes[i], r.Pods)
			}
		}
	}
	for i, r := range cmd.Replacements {
		o := r.Node.InstanceTypes[0]
		n := w.node(fmt.Sprintf("new-%d-%d", round, i), o.Name, ofPool(r.Pool.Name), bought(o.CapacityType), labelled(corev1.LabelTopologyZone, o.Zone))
		take(n, r.Node.Pods)
	}
	if len(moved) > 0 {
		t.Fatalf("%s: %d pods have no place", cmd, len(moved))
	}
}

// Plans that are carried out one after another stay within capacity and budgets, save what they say, and come to an end.
func TestReferenceCarriedOut(t *testing.T) {
	seeded.Check(t, func(rt *rapid.T) {
		w := newWorld()
		w.pool("other", policy(rapid.SampledFrom([]v1.ConsolidationPolicy{v1.ConsolidationPolicyBalanced, v1.ConsolidationPolicyWhenEmpty}).Draw(rt, "policy")))
		limit := rapid.IntRange(1, 4).Draw(rt, "budget")
		w.pool("default", budgets(v1.Budget{Nodes: fmt.Sprint(limit)}))
		for i := range rapid.IntRange(1, 7).Draw(rt, "nodes") {
			name := fmt.Sprintf("n-%d", i)
			cores := rapid.SampledFrom([]int{2, 4, 8}).Draw(rt, "cores")
			var list []*corev1.Pod
			for free, k := cores*1000, 0; k < rapid.IntRange(0, 5).Draw(rt, "pods"); k++ {
				cpu := rapid.SampledFrom([]int{200, 500, 1000, 1700}).Draw(rt, "cpu")
				if free -= cpu; free < 0 {
					break
				}
				list = append(list, pod(fmt.Sprintf("%s-%d", name, k), asks(fmt.Sprintf("cpu=%dm", cpu), "memory=100Mi")))
			}
			w.node(name, fmt.Sprintf("c%d", cores), ofPool(rapid.SampledFrom([]string{"default", "other"}).Draw(rt, "pool")), holding(list...))
		}
		for round := range 40 {
			f, err := disruption.Survey(disruption.Input{View: disruption.ViewOf(w.snapshot)})
			if err != nil {
				rt.Fatal(err)
			}
			before := 0.0
			for _, c := range f.Candidates {
				before += c.Price
			}
			plan, err := (&disruption.Reference{}).Plan(t.Context(), f)
			if err != nil {
				rt.Fatal(err)
			}
			if len(plan.Verdicts) != len(w.snapshot.Nodes) {
				rt.Fatalf("%d verdicts for %d nodes", len(plan.Verdicts), len(w.snapshot.Nodes))
			}
			if len(plan.Commands) == 0 {
				return
			}
			saved, ofDefault := 0.0, 0
			for _, cmd := range plan.Commands {
				saved += cmd.Savings
				for _, m := range cmd.Members {
					if m.Pool.Name == "default" {
						ofDefault++
					}
				}
				w.carryOut(rt, cmd, round)
			}
			if ofDefault > limit {
				rt.Fatalf("%d nodes go at once, and the budget is %d", ofDefault, limit)
			}
			after := 0.0
			for _, c := range w.fleet(t).Candidates {
				after += c.Price
			}
			if saved <= 0 || math.Abs(before-after-saved) > 1e-6 {
				rt.Fatalf("%s: %g USD/h before, %g after, and %g were to be saved", said(plan), before, after, saved)
			}
		}
		rt.Fatal("it never ends")
	})
}
