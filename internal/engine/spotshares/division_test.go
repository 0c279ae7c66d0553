package spotshares_test

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/drawknife/drawknife/internal/engine/spotshares"
	"github.com/drawknife/drawknife/internal/seeded"
	"github.com/drawknife/drawknife/scheduling/spotlimits"
)

func drawn(t *rapid.T) (spotlimits.Limits, []spotshares.Pod, []spotshares.Sale) {
	var l spotlimits.Limits
	share := func(name string) *float64 {
		if !rapid.Bool().Draw(t, name) {
			return nil
		}
		x := float64(rapid.IntRange(5, 100).Draw(t, name+"%")) / 100
		return &x
	}
	l.MaxShare, l.MaxPoolShare, l.MaxPrice, l.OnDemandBase = share("share"), share("pool"), share("price"), rapid.IntRange(0, 5).Draw(t, "base")
	var sales []spotshares.Sale
	for i := range rapid.IntRange(1, 6).Draw(t, "types") {
		for _, zone := range []string{"a", "b", "c"}[:rapid.IntRange(1, 3).Draw(t, "zones")] {
			sales = append(sales, spotshares.Sale{
				Pool: spotshares.Pool{InstanceType: fmt.Sprintf("t%d", i), Zone: zone}, Price: rapid.Float64Range(0.01, 1).Draw(t, "price"),
				Holds: float64(rapid.IntRange(1, 20).Draw(t, "holds")), PriceShare: rapid.Float64Range(0, 1).Draw(t, "of on demand"),
			})
		}
	}
	pods := make([]spotshares.Pod, rapid.IntRange(1, 30).Draw(t, "pods"))
	for i := range pods {
		if pods[i].Place = spotshares.Place(rapid.IntRange(0, 2).Draw(t, "place")); pods[i].Place == spotshares.OnSpot {
			pods[i].Pool = rapid.SampledFrom(sales).Draw(t, "on").Pool
			if rapid.IntRange(0, 9).Draw(t, "elsewhere") == 0 {
				pods[i].Pool = spotshares.Pool{InstanceType: "old", Zone: "z"}
			}
		}
	}
	return l, pods, sales
}

// Wherever the pods of each part go among its pools, and whichever stay where they are, the limits hold, or there are no more pods than before.
func TestDivisionKeepsLimits(t *testing.T) {
	seeded.Times(t, 1000, func(rt *rapid.T) {
		l, pods, sales := drawn(rt)
		d := spotshares.New(l, pods, sales)
		most, onPool := l.MostOnSpot(len(pods)), l.MostOnPool(len(pods))
		// before are the pods on each pool; stuck those that may only stay or leave; mayBe those that could come to be on it.
		before, stuck, mayBe, spotBefore, spot := map[spotshares.Pool]int{}, map[spotshares.Pool]int{}, map[spotshares.Pool]int{}, 0, 0
		for i, p := range pods {
			if p.Place == spotshares.OnSpot {
				before[p.Pool]++
				spotBefore++
			}
			if d.Of[i] != spotshares.NotOnSpot || p.Place == spotshares.OnSpot {
				spot++
			}
			open := map[spotshares.Pool]bool{}
			if at := d.Of[i]; at != spotshares.NotOnSpot {
				if d.Parts[at] == nil {
					for _, s := range sales {
						open[s.Pool] = true
					}
				}
				for _, pool := range d.Parts[at] {
					open[pool] = true
				}
			}
			if p.Place == spotshares.OnSpot && !open[p.Pool] {
				stuck[p.Pool]++
			}
			for pool := range open {
				mayBe[pool]++
			}
		}
		if spot > max(most, spotBefore) {
			rt.Fatalf("%d of %d pods could be on spot, at most %d", spot, len(pods), most)
		}
		if l.MaxPoolShare != nil {
			for pool, n := range mayBe {
				if n+stuck[pool] > max(onPool, before[pool]) {
					rt.Fatalf("%d of %d pods could be on %v, at most %d, and %d are: %+v", n+stuck[pool], len(pods), pool, onPool, before[pool], d)
				}
			}
		}
		// As many as may be on spot are let: those that are, then those that wait, then others.
		let := 0
		for i, of := range d.Of {
			if of != spotshares.NotOnSpot {
				let++
			} else if pods[i].Place == spotshares.Waiting && spot < most {
				rt.Fatalf("pod %d waits, may not be on spot, and %d of %d are or may be", i, spot, most)
			}
		}
		if let > most || spot < min(most, len(pods)) {
			rt.Fatalf("%d may be on spot, %d with those that are, and %d could be", let, spot, most)
		}
	})
}

// Each part has pools in each zone, and some of the cheapest, where there are enough.
func TestDivisionIsFair(t *testing.T) {
	share := 0.25
	pods := make([]spotshares.Pod, 8)
	var sales []spotshares.Sale
	for i := range 8 {
		for _, zone := range []string{"a", "b"} {
			sales = append(sales, spotshares.Sale{Pool: spotshares.Pool{InstanceType: fmt.Sprintf("t%d", i), Zone: zone}, Price: float64(i + 1), Holds: 4})
		}
	}
	d := spotshares.New(spotlimits.Limits{MaxPoolShare: &share}, pods, sales)
	if len(d.Parts) != 4 {
		t.Fatalf("%d parts, want 4", len(d.Parts))
	}
	for at, pools := range d.Parts {
		zones, cheap := map[string]bool{}, false
		for _, pool := range pools {
			zones[pool.Zone] = true
			cheap = cheap || pool.InstanceType < "t2"
		}
		if len(zones) != 2 || !cheap || len(pools) != 4 {
			t.Errorf("part %d: %v", at, pools)
		}
	}
}
