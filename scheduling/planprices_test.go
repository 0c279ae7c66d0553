package scheduling_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	v1 "github.com/drawknife/drawknife/api/v1"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/scheduling"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// based is an offering in zone a with a basis.
func based(capacityType string, price float64, source string, basis *cloudprovider.PriceBasis) cloudprovider.Offering {
	o := offering("a", capacityType, price)
	o.PriceSource, o.PriceBasis = source, basis
	return o
}

// A plan says what its prices rest on, what it costs on demand, and between which costs it is; with a cost model by its prices.
func TestPlanPrices(t *testing.T) {
	listed := &cloudprovider.PriceBasis{Date: "2026-07-20", Region: "r", Confidence: cloudprovider.PriceDated}
	seen := &cloudprovider.PriceBasis{Date: "2025-05-28", Region: "r", Confidence: cloudprovider.PriceDated, Low: 0.3, High: 0.9}
	estimated := &cloudprovider.PriceBasis{Region: "r", Confidence: cloudprovider.PriceEstimated}
	pods := []any{pod("p", selector(capacityKey+"=spot"), requests("cpu=3")), pod("q", selector(capacityKey+"=on-demand"), requests("cpu=3"))}
	onDemand := based(v1.CapacityTypeOnDemand, 1, "list", listed)
	spot := based(v1.CapacityTypeSpot, 0.5, "seen", seen)
	fromList := planning.PricesFrom{CapacityType: "on-demand", Source: "list", Date: "2026-07-20", Region: "r", Confidence: "dated", Nodes: 1, HourlyCost: 1}
	fromSeen := planning.PricesFrom{CapacityType: "spot", Source: "seen", Date: "2025-05-28", Region: "r", Confidence: "dated", Nodes: 1, HourlyCost: 0.5}
	at := func(f planning.PricesFrom, cost float64) planning.PricesFrom {
		f.HourlyCost = cost
		return f
	}
	for _, c := range []struct {
		name      string
		offerings []cloudprovider.Offering
		costs     string
		want      *planning.PlanPrices
	}{
		{"a range", []cloudprovider.Offering{onDemand, spot}, "", &planning.PlanPrices{
			From: []planning.PricesFrom{fromList, fromSeen}, OnDemandCost: 2, Low: 1.3, High: 1.9}},
		{"no range", []cloudprovider.Offering{onDemand, based(v1.CapacityTypeSpot, 0.5, "seen", estimated)}, "", &planning.PlanPrices{
			From:         []planning.PricesFrom{fromList, {CapacityType: "spot", Source: "seen", Region: "r", Confidence: "estimated", Nodes: 1, HourlyCost: 0.5}},
			OnDemandCost: 2}},
		{"an estimate on demand", []cloudprovider.Offering{based(v1.CapacityTypeOnDemand, 1, "guess", estimated), spot}, "", &planning.PlanPrices{
			From: []planning.PricesFrom{{CapacityType: "on-demand", Source: "guess", Region: "r", Confidence: "estimated", Nodes: 1, HourlyCost: 1},
				fromSeen}, OnDemandCost: 2, OnDemandEstimated: true, Low: 1.3, High: 1.9}},
		{"a discount and a fee", []cloudprovider.Offering{onDemand, spot}, `terms: [{name: d, source: s, percent: -50}, {name: f, source: s, perNode: 0.1}]`,
			&planning.PlanPrices{From: []planning.PricesFrom{at(fromList, 0.6), at(fromSeen, 0.35)}, OnDemandCost: 1.2, Low: 0.85, High: 1.15}},
		{"a commitment", []cloudprovider.Offering{onDemand, spot}, `terms: [{name: c, source: s, commitment: {amount: 1, byType: {m: 1}}}]`,
			&planning.PlanPrices{From: []planning.PricesFrom{at(fromList, 0), fromSeen}}},
		{"nothing known", []cloudprovider.Offering{offering("a", v1.CapacityTypeOnDemand, 1), offering("a", v1.CapacityTypeSpot, 0.5)}, "", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := cluster(append([]any{sold(typeOf("m", 0, "cpu=4", "memory=16Gi"), c.offerings...)}, pods...)...)
			if c.costs != "" {
				s.CostModel = decoded(t, c.costs)
			}
			model, err := scheduling.Compile(s)
			if err != nil {
				t.Fatal(err)
			}
			plan, err := model.Solve(context.Background(), scheduling.Query{})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, plan.Prices); diff != "" {
				t.Errorf("prices (-want +got):\n%s", diff)
			}
		})
	}
}
