package reconcilers

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/drawknife/drawknife/scheduling"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// priceMetrics show the cost of the last plan with new nodes, and the origin of its prices.
type priceMetrics struct {
	// cost is the cost by kind, which is planned, on_demand, low or high.
	cost *prometheus.GaugeVec
	// nodes is the number of nodes, and oldest is the day of the oldest price, by the confidence of the prices.
	nodes, oldest *prometheus.GaugeVec
}

// priceLabels are the labels of price metrics. The sources of prices are not labels, because they are texts that contain times.
var priceLabels = []string{"capacity_type", "region", "confidence"}

func newPriceMetrics(gauge func(subsystem, name, help string, labels ...string) *prometheus.GaugeVec) priceMetrics {
	return priceMetrics{
		cost: gauge("scheduler", "planned_cost_dollars_per_hour",
			"What the new nodes of the last plan that has any cost, USD per hour: planned, on_demand if their spot nodes are, too, low and high at the lowest and highest prices of their types. What is not known is left out.", "kind"),
		nodes: gauge("scheduler", "planned_nodes_by_price",
			"New nodes of the last plan that has any, by whose prices they are planned with and how far these can be relied on: current, given, dated, estimated.", priceLabels...),
		oldest: gauge("scheduler", "planned_price_timestamp_seconds",
			"Day of the oldest price among these, in seconds since 1970. Prices without a known day are left out.", priceLabels...),
	}
}

func (m *priceMetrics) planned(plan *scheduling.Plan) {
	if len(plan.NewNodes) == 0 {
		return
	}
	m.cost.Reset()
	m.nodes.Reset()
	m.oldest.Reset()
	m.cost.WithLabelValues("planned").Set(plan.HourlyCost)
	prices := plan.Prices
	if prices == nil {
		prices = &planning.PlanPrices{}
	}
	for kind, usd := range map[string]float64{"on_demand": prices.OnDemandCost, "low": prices.Low, "high": prices.High} {
		if usd > 0 {
			m.cost.WithLabelValues(kind).Set(usd)
		}
	}
	oldest := map[[3]string]time.Time{}
	for _, from := range prices.From {
		labels := [3]string{from.CapacityType, from.Region, string(from.Confidence)}
		m.nodes.WithLabelValues(labels[:]...).Add(float64(from.Nodes))
		day, err := time.Parse(time.DateOnly, from.Date)
		if err != nil {
			continue
		}
		if was, ok := oldest[labels]; !ok || day.Before(was) {
			oldest[labels] = day
			m.oldest.WithLabelValues(labels[:]...).Set(float64(day.Unix()))
		}
	}
}
