package scheduling_test

import (
	"math"
	"testing"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/scheduling"
)

func wantCost(t testing.TB, p *scheduling.Plan, want float64) {
	t.Helper()
	if math.Abs(p.HourlyCost-want) > 1e-6 {
		t.Errorf("cost %.4f, want %.4f", p.HourlyCost, want)
	}
	if len(p.Unschedulable) != 0 {
		t.Errorf("%d pods have no place", len(p.Unschedulable))
	}
}

// OPP-2: opening two cheap nodes beats one dear one, and the other way round.
func TestCheapestMixOfMachines(t *testing.T) {
	onDemand := func(name string, price float64, capacity ...string) any {
		return sold(typeOf(name, price, capacity...), offering("a", v1.CapacityTypeOnDemand, price))
	}
	for _, c := range []struct {
		name  string
		parts []any
		want  float64
	}{
		{"two cheap ones instead of one dear", []any{onDemand("four", 0.83, "cpu=4", "memory=16Gi"), onDemand("eight", 22.27, "cpu=8", "memory=32Gi"), pods("p", 2, requests("cpu=3"))}, 1.66},
		{"one large instead of two", []any{onDemand("four", 1, "cpu=4", "memory=16Gi"), onDemand("eight", 1.5, "cpu=8", "memory=32Gi"), pods("p", 2, requests("cpu=3"))}, 1.5},
		{"the last pod gets a small node", []any{onDemand("two", 0.3, "cpu=2", "memory=8Gi"), onDemand("eight", 1, "cpu=8", "memory=32Gi"), pods("p", 9, requests("cpu=1"))}, 1.3},
		{"cpu-heavy and memory-heavy pods share", []any{onDemand("m", 1, "cpu=8", "memory=32Gi"), onDemand("c", 0.9, "cpu=8", "memory=16Gi"), onDemand("r", 1.3, "cpu=8", "memory=64Gi"),
			pods("c", 4, requests("cpu=1500m", "memory=1Gi")), pods("r", 4, requests("cpu=500m", "memory=7Gi"))}, 1},
		{"one large pod does not raise the price of the small ones", []any{onDemand("one", 0.1, "cpu=1", "memory=4Gi"), onDemand("big", 8, "cpu=16", "memory=64Gi"), pods("big", 1, requests("cpu=15500m", "memory=63Gi")), pods("p", 4, requests("cpu=1"))}, 8.4},
	} {
		t.Run(c.name, func(t *testing.T) { wantCost(t, solve(t, cluster(c.parts...)), c.want) })
	}
}

// OPP-4: a pod that must not be on spot does not pull the others off it.
func TestDemandsAreNotContagious(t *testing.T) {
	p := solve(t, cluster(pods("any", 10, requests("cpu=3500m")), pod("strict", requests("cpu=3500m"), selector(capacityKey+"=on-demand"))))
	wantCost(t, p, 10*0.19*0.4+0.19)
}

// The bound is proven and tight where packing is trivial.
func TestLowerBoundIsTight(t *testing.T) {
	p := solve(t, cluster(pods("p", 40, requests("cpu=4", "memory=16Gi"), selector(archKey+"=amd64"))))
	wantCost(t, p, 3.2)
	if p.LowerBound < p.HourlyCost*0.999 {
		t.Errorf("lower bound %.6f of %.6f", p.LowerBound, p.HourlyCost)
	}
}

// Nodes that cost nothing (paid for beforehand) are used first and break no sum.
func TestFreeMachines(t *testing.T) {
	free := sold(typeOf("free", 0, "cpu=4", "memory=16Gi"), offering("a", v1.CapacityTypeSpot, 0))
	p := solve(t, cluster(free, typeOf("paid", 0.5, "cpu=8", "memory=32Gi"), pods("p", 8)))
	wantCost(t, p, 0)
	p = solve(t, cluster(free, typeOf("paid", 0.5, "cpu=8", "memory=32Gi"), pods("p", 8), pod("big", requests("cpu=6"))))
	wantCost(t, p, 0.2)
}
