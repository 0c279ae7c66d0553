package scheduling_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/drawknife/drawknife/api/v1"
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
