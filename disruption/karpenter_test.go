package disruption_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/disruption"
	"github.com/drawknife/drawknife/scheduling/limits"
)

// reservedToo sells one instance of the type from a reservation in zone a, for next to nothing.
func reservedToo(t *cloudprovider.InstanceType, price float64) *cloudprovider.InstanceType {
	t.Offerings = append(t.Offerings, cloudprovider.Offering{
		Requirements: requirements.NewSet(requirements.In(corev1.LabelTopologyZone, "a"), requirements.In(v1.CapacityTypeLabelKey, "reserved")),
		Price:        price, Available: true, ReservationCapacity: 1,
	})
	return t
}

// Where Global goes Karpenter's way, where its thresholds keep it from that, and where limits stand.
func TestGlobalBesideKarpenter(t *testing.T) {
	// A reserved node, and another reservation at half its price: fractions of a microdollar count.
	reserved := func(w *world) {
		onlyTypes(reservedToo(instanceType("c4", 4, "on-demand=0.2"), 4e-7), reservedToo(instanceType("c8", 8, "on-demand=0.4"), 8e-7))(w)
		w.node("n", "c8", bought("reserved"), holding(pods("p", 3, "1")...))
	}
	// Twenty spot types that cost less, fourteen of them by 15 %, the dearest first.
	spot := func(w *world) {
		types := []*cloudprovider.InstanceType{instanceType("c4", 4, "spot=0.2", "on-demand=0.5")}
		for i := range 20 {
			types = append(types, instanceType(fmt.Sprintf("s%02d", i), 4, fmt.Sprintf("spot=%g", 0.1975-0.005*float64(i))))
		}
		onlyTypes(types...)(w)
		w.node("n", "c4", bought(v1.CapacityTypeSpot), holding(pods("p", 3, "1")...))
	}
	overlapping := func(w *world) {
		w.node("n", "c8", drifted(time.Hour), grace(time.Hour), holding(pods("p", 3, "1", app("x"))...))
		w.pdb("one", "x", 1)
		w.pdb("two", "x", 1)
	}
	single := func(w *world) {
		overlapping(w)
		w.snapshot.PodDisruptionBudgets = w.snapshot.PodDisruptionBudgets[:1]
	}
	limited := func(w *world) {
		w.pool("default", func(p *v1.NodePool) { p.Spec.Limits = amounts("cpu=8") })
		w.node("n", "c8", holding(pods("p", 3, "1")...))
	}
	noThresholds := &disruption.Global{MinSavingShare: new(float64), DisruptionPrice: new(float64), SpotToSpot: true}
	for _, tt := range []struct {
		name    string
		make    func(*world)
		planner disruption.Planner
		want    string
	}{
		{"DIS-150 reserved to reserved", reserved, &disruption.Reference{}, "SingleNodeConsolidation: n -> c4/reserved(1)"},
		{"DIS-150 reserved to reserved, without thresholds", reserved, noThresholds, "SingleNodeConsolidation: n -> c4/reserved(1)"},
		{"DIS-150 moving pods has to earn more than fractions of a microdollar", reserved, &disruption.Global{}, ""},
		{"DIS-144 the cheapest spot types", spot, &disruption.Reference{SpotToSpot: true}, "SingleNodeConsolidation: n -> s19/spot(15)"},
		{"DIS-144 the cheapest spot types, without thresholds", spot, noThresholds, "SingleNodeConsolidation: n -> s19/spot(15)"},
		{"DIS-144 types that save too little don't count", spot, &disruption.Global{SpotToSpot: true}, ""},
		{"DIS-043, DIS-096 pods of two budgets can't be evicted: nothing is launched for them", overlapping, &disruption.Reference{}, "Drift: n"},
		{"DIS-043, DIS-096 nor by Global", overlapping, &disruption.Global{}, "Drift: n"},
		{"DIS-096 pods of one that lets some go can", single, &disruption.Global{}, "Drift: n -> c4/on-demand(3)"},
		{"DIS-149 old and new may exceed a limit together", limited, &disruption.Global{}, "SingleNodeConsolidation: n -> c4/on-demand(1)"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld()
			tt.make(w)
			plan, err := tt.planner.Plan(t.Context(), w.fleet(t))
			if err != nil {
				t.Fatal(err)
			}
			if got := said(plan); got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}

// DIS-149: what launches the replacement of such a plan lets the old node out of the count, and no other.
func TestOverlapWithinLimits(t *testing.T) {
	w := newWorld()
	w.pool("default", func(p *v1.NodePool) { p.Spec.Limits = amounts("cpu=8") })
	w.node("n", "c8", holding(pods("p", 3, "1")...))
	plan, err := (&disruption.Global{}).Plan(t.Context(), w.fleet(t))
	if err != nil || len(plan.Commands) != 1 {
		t.Fatalf("%q, %v", said(plan), err)
	}
	replacement := plan.Commands[0].Replacements[0]
	tracker, asked := limits.NewTracker(), amounts("cpu=4")
	if err := tracker.SetLimits(replacement.Pool, w.snapshot.NodePools[0].Object.Spec.Limits); err != nil {
		t.Fatal(err)
	}
	if err := tracker.Observe(replacement.Pool, "n", limits.Live, amounts("cpu=8")); err != nil {
		t.Fatal(err)
	}
	var exceeded *limits.ExceededError
	if err := tracker.Reserve(replacement.Pool, "new", asked); !errors.As(err, &exceeded) {
		t.Errorf("next to a node that stays: %v", err)
	}
	if err := tracker.Observe(replacement.Pool, "n", limits.Leaving, amounts("cpu=8")); err != nil {
		t.Fatal(err)
	}
	if err := tracker.Reserve(replacement.Pool, "new", asked); err != nil {
		t.Errorf("next to the node that it replaces: %v", err)
	}
	if err := tracker.Reserve(replacement.Pool, "more", amounts("cpu=5")); !errors.As(err, &exceeded) {
		t.Errorf("one too many: %v", err)
	}
}
