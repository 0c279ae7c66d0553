package disruption_test

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/disruption"
	"github.com/drawknife/drawknife/scheduling"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// Consolidation does not leave capacity that is paid for: a node under a commitment costs nothing, however cheap spot or a smaller node is.
// A node that the commitment does not cover is replaced as ever, and one whose pods fit under the unused part of it moves there. Spot
// nodes move there, too: what is paid for already costs nothing more.
func TestConsolidationKeepsPaidCapacity(t *testing.T) {
	committed := func(amount float64, types map[string]float64) func(*world) {
		return func(w *world) {
			w.snapshot.CostModel = &scheduling.CostModel{Terms: []planning.CostTerm{{Name: "savings plan", Source: "test",
				Commitment: &planning.Commitment{Amount: amount, Unit: "USD/h", ByType: types}}}}
		}
	}
	market := onlyTypes(instanceType("c4", 4, "on-demand=0.2", "spot=0.05"), instanceType("d4", 4, "on-demand=0.15", "spot=0.06"), instanceType("c8", 8, "on-demand=0.4", "spot=0.1"))
	one := func(w *world) { market(w); w.node("n", "c8", holding(pods("p", 3, "1")...)) }
	for _, tt := range []struct {
		name string
		make []func(*world)
		goes string // what replaces n, "" for nothing
	}{
		{"without a commitment spot is cheaper", []func(*world){one}, "spot c4"},
		{"under a commitment it stays", []func(*world){one, committed(0.3, map[string]float64{"c8": 0.3})}, ""},
		{"under a commitment that smaller nodes use too it stays", []func(*world){one, committed(0.3, map[string]float64{"c8": 0.3, "c4": 0.15})}, ""},
		{"under a commitment to other types it moves to them", []func(*world){one, committed(0.12, map[string]float64{"d4": 0.12})}, "on-demand d4"},
		{"a tenth of its price covered is no reason to stay", []func(*world){one, committed(0.03, map[string]float64{"c8": 0.3})}, "spot c4"},
		{"a spot node moves under an unused commitment", []func(*world){func(w *world) {
			market(w)
			w.node("n", "c4", bought(v1.CapacityTypeSpot), holding(pods("p", 3, "1")...))
		}, committed(0.12, map[string]float64{"d4": 0.12})}, "on-demand d4"},
		{"a commitment for one node moves one of two", []func(*world){func(w *world) {
			market(w)
			w.node("n", "c4", bought(v1.CapacityTypeSpot), holding(pods("p", 3, "1")...))
			w.node("o", "c4", bought(v1.CapacityTypeSpot), holding(pods("q", 3, "1")...))
		}, committed(0.12, map[string]float64{"d4": 0.12})}, "on-demand d4"},
		{"a fraction of a commitment moves nothing", []func(*world){func(w *world) {
			market(w)
			w.node("n", "c4", bought(v1.CapacityTypeSpot), holding(pods("p", 3, "1")...))
		}, committed(0.03, map[string]float64{"d4": 0.12})}, ""},
		{"a commitment of another zone moves nothing", []func(*world){func(w *world) {
			market(w)
			w.node("n", "c4", bought(v1.CapacityTypeSpot), holding(pods("p", 3, "1")...))
		}, committed(0.12, map[string]float64{"d4": 0.12}), func(w *world) {
			w.snapshot.CostModel.Terms[0].Where.Requirements = []corev1.NodeSelectorRequirement{{Key: corev1.LabelTopologyZone, Operator: corev1.NodeSelectorOpIn, Values: []string{"elsewhere"}}}
		}}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for name, planner := range map[string]interface {
				Plan(context.Context, *disruption.Fleet) (*disruption.Plan, error)
				Validate(context.Context, *disruption.Fleet, *disruption.Command) (*disruption.Command, error)
			}{"global": &disruption.Global{}, "reference": &disruption.Reference{}} {
				w := newWorld()
				for _, f := range tt.make {
					f(w)
				}
				plan, err := planner.Plan(t.Context(), w.fleet(t))
				if err != nil {
					t.Fatal(err)
				}
				goes := ""
				for _, cmd := range plan.Commands {
					if _, err := planner.Validate(t.Context(), w.fleet(t), cmd); err != nil {
						t.Errorf("%s: the command is void at once: %v", name, err)
					}
					for _, r := range cmd.Replacements {
						o := r.Node.InstanceTypes[0]
						goes += o.CapacityType + " " + o.Name
					}
				}
				if goes != tt.goes {
					t.Errorf("%s: replaced by %q, want %q: %s", name, goes, tt.goes, why(t, plan, "n", disruption.MethodSingleNode))
				}
			}
		})
	}
}
