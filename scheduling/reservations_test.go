package scheduling_test

import (
	"testing"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/scheduling"
)

// lent is a type of 4 cores that is sold on demand and of which a reservation in zone a has some instances left.
func lent(id string, left int) *cloudprovider.InstanceType {
	return sold(typeOf("medium", 0.2, "cpu=4", "memory=16Gi"), offering("a", v1.CapacityTypeOnDemand, 0.2), offering("b", v1.CapacityTypeOnDemand, 0.2), reservedOffering("a", id, left))
}

// SCH-161, SCH-162: what pods do for which a reservation exists, when it has too few instances. Each takes a node.
func TestReservedPolicies(t *testing.T) {
	big := requests("cpu=4")
	for _, c := range []struct {
		name   string
		parts  []any
		policy scheduling.ReservedPolicy
		// want is how many nodes are reserved and on demand, and how many pods wait.
		want [3]int
	}{
		{"SCH-162 fallback buys the rest", []any{lent("r", 2), pods("p", 3, big)}, scheduling.ReservedFallback, [3]int{2, 1, 0}},
		{"SCH-162 fallback is the default", []any{lent("r", 2), pods("p", 3, big)}, "", [3]int{2, 1, 0}},
		{"SCH-161 strict lets the rest wait", []any{lent("r", 2), pods("p", 3, big)}, scheduling.ReservedStrict, [3]int{2, 0, 1}},
		{"SCH-161 strict, whatever pool would do as well", []any{nodePool("heavy", weight(9), poolNeeds(zoneKey, opIn, "a")), nodePool("light", poolNeeds(zoneKey, opIn, "b")), lent("r", 2), pods("p", 3, big)}, scheduling.ReservedStrict, [3]int{2, 0, 1}},
		{"SCH-161 pods that can't use it buy", []any{lent("r", 2), pods("p", 3, big, selector(zoneKey+"=b"))}, scheduling.ReservedStrict, [3]int{0, 3, 0}},
		{"SCH-161 pods that it is too small for buy", []any{lent("r", 2), typeOf("large", 0.4, "cpu=8", "memory=32Gi"), pods("p", 1, requests("cpu=6"))}, scheduling.ReservedStrict, [3]int{0, 1, 0}},
		{"SCH-161 with nothing left of it nobody waits", []any{lent("r", 0), pods("p", 1, big)}, scheduling.ReservedStrict, [3]int{0, 1, 0}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := solveQuery(t, cluster(c.parts...), scheduling.Query{Reserved: c.policy})
			var got [3]int
			for i := range p.NewNodes {
				if p.NewNodes[i].InstanceTypes[0].CapacityType == v1.CapacityTypeReserved {
					got[0]++
				} else {
					got[1]++
				}
			}
			if got[2] = len(p.Unschedulable); got != c.want {
				t.Errorf("%d reserved, %d bought, %d wait; want %v", got[0], got[1], got[2], c.want)
			}
			for _, u := range p.Unschedulable {
				if r := u.Reasons[0]; r.Code != scheduling.ReasonReservation {
					t.Errorf("%s: %s", r.Code, r)
				}
			}
		})
	}
}

// SCH-163: a node that holds a reservation can be launched from that reservation alone, any other from none.
func TestClaimOfAReservation(t *testing.T) {
	both := lent("r1", 1)
	both.Offerings = append(both.Offerings, reservedOffering("a", "r2", 0))
	p := solveQuery(t, cluster(both, pods("p", 2, requests("cpu=4"))), scheduling.Query{})
	for i := range p.NewNodes {
		n := &p.NewNodes[i]
		types, id := n.Requirements.Get(capacityKey), n.Requirements.Get("example.com/reservation")
		if n.InstanceTypes[0].CapacityType == v1.CapacityTypeReserved {
			if len(types.Values()) != 1 || !types.Has(v1.CapacityTypeReserved) || len(id.Values()) != 1 || !id.Has("r1") {
				t.Errorf("reserved node: %s", n.Requirements)
			}
		} else if types.Has(v1.CapacityTypeReserved) {
			t.Errorf("bought node: %s", n.Requirements)
		}
	}
	if len(p.NewNodes) != 2 {
		t.Errorf("%d nodes, want 2", len(p.NewNodes))
	}
}

// SCH-164: capacity types carry no preference of their own: the cheaper is planned with, whichever it is.
func TestCapacityTypesByPrice(t *testing.T) {
	for spot, want := range map[float64]string{0.1: v1.CapacityTypeSpot, 0.3: v1.CapacityTypeOnDemand} {
		it := sold(typeOf("medium", 0.2, "cpu=4", "memory=16Gi"), offering("a", v1.CapacityTypeOnDemand, 0.2), offering("a", v1.CapacityTypeSpot, spot))
		wantPlace(t, solve(t, cluster(it, pod("p"))), "p", "new medium/a/"+want)
	}
}
