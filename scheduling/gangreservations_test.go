package scheduling_test

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/internal/planvalidator"
	"github.com/drawknife/drawknife/scheduling"
)

// Gangs use capacity reservations where they fit, and choose the domain for them; with the strict policy a reservation that is too small
// for all keeps the whole gang waiting, and nothing is launched for part of it.
func TestGangsUseReservations(t *testing.T) {
	for _, c := range []struct {
		name     string
		left     int
		policy   scheduling.ReservedPolicy
		topology bool
		// want is how many nodes are reserved and on demand, and how many pods wait.
		want [3]int
		zone string
	}{
		{"all in the reservation", 3, scheduling.ReservedFallback, false, [3]int{3, 0, 0}, ""},
		{"the rest is bought", 2, scheduling.ReservedFallback, false, [3]int{2, 1, 0}, ""},
		{"strict, and too small", 2, scheduling.ReservedStrict, false, [3]int{0, 0, 3}, ""},
		{"the zone of the reservation is the cheapest", 3, scheduling.ReservedFallback, true, [3]int{3, 0, 0}, "a"},
		{"also if it is too small for all", 1, scheduling.ReservedFallback, true, [3]int{1, 2, 0}, "a"},
	} {
		t.Run(c.name, func(t *testing.T) {
			list := pods("g", 3, requests("cpu=4"))
			var options []func(*scheduling.Gang)
			if c.topology {
				options = append(options, together(corev1.LabelTopologyZone))
			}
			p := solveQuery(t, withGangs(cluster(lent("r", c.left), list), gangOf("g", list, options...)), scheduling.Query{Reserved: c.policy})
			var got [3]int
			for i := range p.NewNodes {
				if p.NewNodes[i].InstanceTypes[0].CapacityType == v1.CapacityTypeReserved {
					got[0]++
				} else {
					got[1]++
				}
			}
			if got[2] = len(p.Unschedulable); got != c.want {
				t.Errorf("%d reserved, %d bought, %d wait; want %v: %v", got[0], got[1], got[2], c.want, p.Gangs[0].String())
			}
			if c.zone != "" && (len(p.Gangs[0].Domains) != 1 || p.Gangs[0].Domains[0].Value != c.zone) {
				t.Errorf("it is in %v", p.Gangs[0].Domains)
			}
		})
	}
}

// Gangs that are alike draw on one reservation until it is used up, and never beyond; what is left to buy is bought.
func TestGangsShareAReservation(t *testing.T) {
	for _, topology := range []bool{false, true} {
		s := cluster(lent("r", 5))
		for _, name := range []string{"g", "h", "i"} {
			list := pods(name, 3, requests("cpu=4"))
			var options []func(*scheduling.Gang)
			if topology {
				options = append(options, together(corev1.LabelTopologyZone))
			}
			s.Pods, s.Gangs = append(s.Pods, list...), append(s.Gangs, gangOf(name, list, options...))
		}
		p := solveQuery(t, s, scheduling.Query{Reserved: scheduling.ReservedFallback})
		reserved := 0
		for i := range p.NewNodes {
			if p.NewNodes[i].InstanceTypes[0].CapacityType == v1.CapacityTypeReserved {
				reserved++
			}
		}
		if reserved != 5 || len(p.NewNodes) != 9 || len(p.Unschedulable) > 0 {
			t.Errorf("topology %v: %d of %d nodes are reserved, want 5 of 9; %d pods wait", topology, reserved, len(p.NewNodes), len(p.Unschedulable))
		}
	}
}

// A gang takes its places in two reservations, of one type or of two, in the domain that it requires: with the strict policy none
// is bought there.
func TestGangsTakePlacesInTwoReservations(t *testing.T) {
	one := func(zone string) []any {
		it := lent("r1", 2)
		it.Offerings = append(it.Offerings, reservedOffering(zone, "r2", 1))
		return []any{it}
	}
	two := func(zone string) []any {
		return []any{lent("r1", 2), sold(typeOf("other", 0.21, "cpu=4", "memory=16Gi"), offering("a", v1.CapacityTypeOnDemand, 0.21), reservedOffering(zone, "r2", 1))}
	}
	for _, c := range []struct {
		name   string
		types  []any
		pods   int
		policy scheduling.ReservedPolicy
		want   [3]int
	}{
		{"of one type", one("a"), 3, scheduling.ReservedStrict, [3]int{3, 0, 0}},
		{"of two types", two("a"), 3, scheduling.ReservedStrict, [3]int{3, 0, 0}},
		{"of one type, and too small: the other zone has none to wait for", one("a"), 4, scheduling.ReservedStrict, [3]int{0, 4, 0}},
		{"of two types, and too small", two("a"), 4, scheduling.ReservedStrict, [3]int{0, 4, 0}},
		{"of two types, and the rest is bought", two("a"), 4, scheduling.ReservedFallback, [3]int{3, 1, 0}},
		{"in two zones", two("b"), 3, scheduling.ReservedStrict, [3]int{0, 0, 3}},
		{"in two zones, and the rest is bought", two("b"), 3, scheduling.ReservedFallback, [3]int{2, 1, 0}},
	} {
		t.Run(c.name, func(t *testing.T) {
			list := pods("g", c.pods, requests("cpu=4"))
			s := withGangs(cluster(append(slices.Clone(c.types), list)...), gangOf("g", list, together(corev1.LabelTopologyZone)))
			p := solveQuery(t, s, scheduling.Query{Reserved: c.policy})
			got := [3]int{0, 0, len(p.Unschedulable)}
			for i := range p.NewNodes {
				if p.NewNodes[i].InstanceTypes[0].CapacityType == v1.CapacityTypeReserved {
					got[0]++
				} else {
					got[1]++
				}
			}
			if got != c.want {
				t.Errorf("%d reserved, %d bought, %d wait; want %v: %v", got[0], got[1], got[2], c.want, p.Gangs[0].String())
			}
			for _, fault := range planvalidator.Check(s, p) {
				t.Error(fault)
			}
		})
	}
}
