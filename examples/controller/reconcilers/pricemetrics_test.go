package reconcilers

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/scheduling"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// The last plan with new nodes is shown with what its prices rest on; a pass without new nodes leaves that.
func TestPriceMetrics(t *testing.T) {
	registry := prometheus.NewRegistry()
	m, err := newMetrics(registry)
	if err != nil {
		t.Fatal(err)
	}
	from := func(capacityType, date string, confidence cloudprovider.PriceConfidence, nodes int) planning.PricesFrom {
		return planning.PricesFrom{CapacityType: capacityType, Region: "r", Date: date, Confidence: confidence, Nodes: nodes}
	}
	first := &scheduling.Plan{NewNodes: make([]scheduling.NewNode, 1), HourlyCost: 9, Prices: &planning.PlanPrices{From: []planning.PricesFrom{from("reserved", "", "", 1)}}}
	second := &scheduling.Plan{NewNodes: make([]scheduling.NewNode, 5), HourlyCost: 2, Prices: &planning.PlanPrices{
		From: []planning.PricesFrom{
			from("on-demand", "2026-07-20", cloudprovider.PriceDated, 1), from("on-demand", "2025-05-28", cloudprovider.PriceDated, 2),
			from("spot", "", cloudprovider.PriceEstimated, 2),
		},
		OnDemandCost: 3, Low: 1.5, High: 2.5,
	}}
	for _, plan := range []*scheduling.Plan{first, second, {}} {
		m.passDone(plan, nil, 0)
	}
	all := gathered(t, registry)
	for name, want := range map[string]map[string]float64{
		"planned_cost_dollars_per_hour": {"{kind=planned}": 2, "{kind=on_demand}": 3, "{kind=low}": 1.5, "{kind=high}": 2.5},
		"planned_nodes_by_price": {
			"{capacity_type=on-demand,confidence=dated,region=r}": 3, "{capacity_type=spot,confidence=estimated,region=r}": 2,
		},
		"planned_price_timestamp_seconds": {"{capacity_type=on-demand,confidence=dated,region=r}": 1748390400},
	} {
		name = "karpenter_scheduler_" + name
		named := map[string]float64{}
		for labels, value := range want {
			named[name+labels] = value
		}
		if diff := cmp.Diff(named, ofName(all, name)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
