package planning

import "github.com/drawknife/drawknife/cloudprovider"

// PlanPrices says where the prices of a plan's new nodes come from, and what the nodes could cost instead.
type PlanPrices struct {
	// From lists the origins of the prices, by capacity type and then by source and basis.
	From []PricesFrom `json:"from"`
	// OnDemandCost is the cost of the new nodes, USD per hour, if the spot nodes among them were on-demand in the same zones. It is 0 in
	// three cases: the plan has no spot nodes, an on-demand price is unknown, or there are commitments, which may cover on-demand nodes.
	OnDemandCost float64 `json:"onDemandCost,omitempty"`
	// OnDemandEstimated means that OnDemandCost contains estimates.
	OnDemandEstimated bool `json:"onDemandEstimated,omitempty"`
	// Low and High are the cost of the new nodes, USD per hour, if each price with a range is at its lowest, and at its highest. Both are 0
	// if no price of the plan has a range, or if there are commitments.
	Low  float64 `json:"low,omitempty"`
	High float64 `json:"high,omitempty"`
}

// PricesFrom is one origin of the prices of new nodes.
type PricesFrom struct {
	// CapacityType of the nodes: spot, on-demand or reserved. It is also the kind of the prices.
	CapacityType string `json:"capacityType"`
	// Source of the prices, as stated by their offerings; empty if they state none.
	Source string `json:"source,omitempty"`
	// Date, Region and Confidence are copied from the offerings' PriceBasis.
	Date       string                        `json:"date,omitempty"`
	Region     string                        `json:"region,omitempty"`
	Confidence cloudprovider.PriceConfidence `json:"confidence,omitempty"`
	// Nodes is the number of nodes with prices of this origin.
	Nodes int `json:"nodes"`
	// HourlyCost of these nodes, USD per hour.
	HourlyCost float64 `json:"hourlyCost"`
}
