package planning

import "github.com/drawknife/drawknife/cloudprovider"

// PlanPrices says what the cost of a plan's new nodes rests on, and what it could be instead.
type PlanPrices struct {
	// From says where the prices come from, by capacity type and then by source and basis.
	From []PricesFrom `json:"from"`
	// OnDemandCost is what the new nodes cost, USD per hour, when the spot nodes among them are on demand, too, in the same zones.
	// 0 without spot nodes, where such a price is not known, and with commitments, which may cover on-demand nodes.
	OnDemandCost float64 `json:"onDemandCost,omitempty"`
	// OnDemandEstimated says that OnDemandCost contains estimates.
	OnDemandEstimated bool `json:"onDemandEstimated,omitempty"`
	// Low and High are what the new nodes cost, USD per hour, when each price with a range is at its lowest, and at its highest. Both
	// are 0 where no price of the plan has a range, and with commitments.
	Low  float64 `json:"low,omitempty"`
	High float64 `json:"high,omitempty"`
}

// PricesFrom is one origin of prices of new nodes.
type PricesFrom struct {
	// CapacityType of the nodes: spot, on-demand or reserved. It is the kind of the prices.
	CapacityType string `json:"capacityType"`
	// Source of the prices, as their offerings state it; empty where they don't.
	Source string `json:"source,omitempty"`
	// Date, Region and Confidence are those of the offerings' PriceBasis.
	Date       string                        `json:"date,omitempty"`
	Region     string                        `json:"region,omitempty"`
	Confidence cloudprovider.PriceConfidence `json:"confidence,omitempty"`
	// Nodes with prices from there.
	Nodes int `json:"nodes"`
	// HourlyCost of these, USD per hour.
	HourlyCost float64 `json:"hourlyCost"`
}
