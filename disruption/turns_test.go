package disruption_test

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/drawknife/drawknife/disruption"
	"github.com/drawknife/drawknife/scheduling"
)

// Where pods of one application may differ by one between zones, no node can take two of them before another zone has one: nodes take
// turns, on nodes that are there as on new ones, and the command says in which order pods can be bound.
func TestGlobalHasNodesTakeTurns(t *testing.T) {
	even := func(p *corev1.Pod) {
		app("x")(p)
		p.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{
			MaxSkew: 1, TopologyKey: corev1.LabelTopologyZone, WhenUnsatisfiable: corev1.DoNotSchedule,
			LabelSelector: &metav1.LabelSelector{MatchLabels: p.Labels},
		}}
	}
	for name, room := range map[string]bool{"nodes that are there": true, "new nodes": false} {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			onlyTypes(instanceType("c2", 2, "on-demand=0.1"), instanceType("c16", 16, "on-demand=0.8"))(w)
			going := 2
			for _, zone := range []string{"a", "b"} {
				if room {
					w.node("room-"+zone, "c2", kept, labelled(corev1.LabelTopologyZone, zone))
					continue
				}
				w.node("n-"+zone, "c16", labelled(corev1.LabelTopologyZone, zone), holding(pods("p-"+zone, 2, "900m", even)...))
			}
			if room {
				going = 1
				w.node("n", "c16", labelled(corev1.LabelTopologyZone, "b"), holding(pods("p", 4, "900m", even)...))
			}
			planner := thrifty()
			fleet := w.fleet(t)
			plan, err := planner.Plan(t.Context(), fleet)
			if err != nil {
				t.Fatal(err)
			}
			applied(t, w.snapshot, plan.Commands, true)
			if len(plan.Commands) != 1 || len(plan.Commands[0].Members) != going {
				t.Fatalf("%s; want all of them to go at once", said(plan))
			}
			cmd := plan.Commands[0]
			at := map[scheduling.PodKey]int{}
			for i, r := range cmd.Receivers {
				for _, key := range r.Pods {
					at[key] = i
				}
			}
			for i, r := range cmd.Replacements {
				for _, key := range r.Node.Pods {
					at[key] = i
				}
			}
			if len(cmd.Order) != 4 || at[cmd.Order[0]] == at[cmd.Order[1]] || at[cmd.Order[2]] == at[cmd.Order[3]] {
				t.Errorf("order %v of nodes %v", cmd.Order, at)
			}
			good, rejected, err := planner.Restrict(t.Context(), fleet, []*disruption.Command{cmd})
			if err != nil || len(rejected) > 0 || !slices.Equal(good[0].Order, cmd.Order) {
				t.Errorf("looked at again: %v, rejected %v, error %v", good, rejected, err)
			}
		})
	}
}
