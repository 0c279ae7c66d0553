package oracle_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/drawknife/drawknife/api/requirements"
	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/internal/e2e/oracle"
	"github.com/drawknife/drawknife/scheduling"
)

const reservationKey = "example.com/reservation"

// reserved is the type with a reserved offering in zone-a.
func reserved(t *cloudprovider.InstanceType, id string, left int) *cloudprovider.InstanceType {
	t.Offerings = append(t.Offerings, cloudprovider.Offering{
		Requirements: requirements.NewSet(requirements.In(corev1.LabelTopologyZone, "zone-a"), requirements.In(v1.CapacityTypeLabelKey, v1.CapacityTypeReserved), requirements.In(reservationKey, id)),
		Available:    true, ReservationCapacity: left,
	})
	return t
}

// onReservation has the plan's node count on the reservation.
func onReservation(n *scheduling.NewNode, id string) {
	n.InstanceTypes[0].CapacityType, n.InstanceTypes[0].Price = v1.CapacityTypeReserved, 0
	n.Requirements = requirements.NewSet(requirements.In(v1.CapacityTypeLabelKey, v1.CapacityTypeReserved), requirements.In(reservationKey, id))
}

// minValues has the plan's pool ask for so many values.
func minValues(s *scheduling.Snapshot, key string, n int) {
	s.NodePools[0].Object.Spec.Template.Spec.Requirements = []v1.NodeSelectorRequirementWithMinValues{{Key: key, Operator: corev1.NodeSelectorOpExists, MinValues: &n}}
}

// TestPurchaseMutations breaks, one by one, what kube-scheduler never looks at. An empty want is a promise that is kept.
func TestPurchaseMutations(t *testing.T) {
	tests := []struct {
		name  string
		types []*cloudprovider.InstanceType
		query scheduling.Query
		set   func(*scheduling.Snapshot, *scheduling.NewNode)
		want  string
	}{
		{name: "nothing broken", set: func(*scheduling.Snapshot, *scheduling.NewNode) {}},
		{name: "pool does not exist", set: func(_ *scheduling.Snapshot, n *scheduling.NewNode) { n.Pool.Name = "other" }, want: "has no pool"},
		{name: "static pool", set: func(s *scheduling.Snapshot, _ *scheduling.NewNode) {
			one := int64(1)
			s.NodePools[0].Object.Spec.Replicas = &one
		}, want: "launches no nodes"},
		{name: "pool not ready", set: func(s *scheduling.Snapshot, _ *scheduling.NewNode) { s.NodePools[0].NotReady = "no class" }, want: "launches no nodes"},
		{name: "price without its overlay", set: func(s *scheduling.Snapshot, _ *scheduling.NewNode) {
			price := "1.5"
			s.NodeOverlays = []*v1.NodeOverlay{{Spec: v1.NodeOverlaySpec{Price: &price}}}
			s.NodeOverlays[0].Name = "o"
		}, want: "a price of 4, t/zone-a/on-demand costs 1.5"},
		{name: "allocatable above the type's", set: func(_ *scheduling.Snapshot, n *scheduling.NewNode) {
			n.Allocatable = corev1.ResourceList{"example.com/extra": resource.MustParse("1")}
		}, want: "more example.com/extra"},
		{name: "reserved", types: []*cloudprovider.InstanceType{reserved(instanceType("t", 4, 8, "zone-a"), "r-1", 1)},
			set: func(_ *scheduling.Snapshot, n *scheduling.NewNode) { onReservation(n, "r-1") }},
		{name: "reservation with nothing left, another type says", types: []*cloudprovider.InstanceType{reserved(instanceType("t", 4, 8, "zone-a"), "r-1", 1), reserved(instanceType("u", 4, 8, "zone-a"), "r-1", 0)},
			set: func(_ *scheduling.Snapshot, n *scheduling.NewNode) {
				n.InstanceTypes = n.InstanceTypes[:1]
				onReservation(n, "r-1")
			}, want: "has 0 instances left, and 1 nodes may draw on it"},
		{name: "another reservation left open", types: []*cloudprovider.InstanceType{reserved(reserved(instanceType("t", 4, 8, "zone-a"), "r-1", 1), "r-2", 1), reserved(instanceType("u", 4, 8, "zone-a"), "r-2", 0)},
			set: func(_ *scheduling.Snapshot, n *scheduling.NewNode) {
				n.InstanceTypes = n.InstanceTypes[:1]
				onReservation(n, "r-1")
				n.Requirements = n.Requirements.Without(reservationKey)
			}, want: "In [r-2] has 0 instances left"},
		{name: "reservation drawn on by a node that does not count", types: []*cloudprovider.InstanceType{reserved(instanceType("t", 4, 8, "zone-a"), "r-1", 1), reserved(instanceType("u", 4, 8, "zone-a"), "r-1", 0)},
			set: func(_ *scheduling.Snapshot, n *scheduling.NewNode) { n.InstanceTypes = n.InstanceTypes[:1] }, want: "1 nodes may draw on it"},
		{name: "min values met", types: []*cloudprovider.InstanceType{instanceType("t", 4, 8, "zone-a", "zone-b")},
			set: func(s *scheduling.Snapshot, _ *scheduling.NewNode) { minValues(s, corev1.LabelTopologyZone, 2) }},
		{name: "min values that the claim's zone excludes", types: []*cloudprovider.InstanceType{instanceType("t", 4, 8, "zone-a", "zone-b")},
			set: func(s *scheduling.Snapshot, n *scheduling.NewNode) {
				minValues(s, corev1.LabelTopologyZone, 2)
				n.Requirements = requirements.NewSet(requirements.In(corev1.LabelTopologyZone, "zone-a"))
			}, want: "asks for 2 values of topology.kubernetes.io/zone, the claim leaves [zone-a]"},
		{name: "min values given up under Strict", set: func(s *scheduling.Snapshot, n *scheduling.NewNode) {
			minValues(s, corev1.LabelInstanceTypeStable, 2)
			n.MinValuesRelaxed = true
		}, want: "asks for 2 values of node.kubernetes.io/instance-type"},
		{name: "min values given up under BestEffort", query: scheduling.Query{MinValues: scheduling.MinValuesBestEffort}, set: func(s *scheduling.Snapshot, n *scheduling.NewNode) {
			minValues(s, corev1.LabelInstanceTypeStable, 2)
			n.MinValuesRelaxed = true
		}},
		{name: "min values given up in silence", query: scheduling.Query{MinValues: scheduling.MinValuesBestEffort}, set: func(s *scheduling.Snapshot, _ *scheduling.NewNode) {
			minValues(s, corev1.LabelInstanceTypeStable, 2)
		}, want: "minValuesRelaxed is false"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			types := tt.types
			if types == nil {
				types = []*cloudprovider.InstanceType{instanceType("t", 4, 8, "zone-a")}
			}
			s, plan, _ := planned(types...)
			node := &plan.NewNodes[0]
			node.InstanceTypes[0].Price = 4
			tt.set(s, node)
			plan.HourlyCost = node.InstanceTypes[0].Price
			got := strings.Join(oracle.Purchases(s, plan, tt.query), "; ")
			if (got == "") != (tt.want == "") || !strings.Contains(got, tt.want) {
				t.Errorf("faults %q, want one with %q", got, tt.want)
			}
		})
	}
	t.Run("sum", func(t *testing.T) {
		s, plan, _ := planned(instanceType("t", 4, 8, "zone-a"))
		plan.NewNodes[0].InstanceTypes[0].Price, plan.HourlyCost = 4, 5
		if got := oracle.Purchases(s, plan, scheduling.Query{}); len(got) != 1 || !strings.Contains(got[0], "the plan costs 5, its nodes 4") {
			t.Errorf("faults %q", got)
		}
	})
}
