// Package spotrisk computes the cost of spot nodes including interruptions. It records the history of the spot market of each instance type
// in each zone, and makes terms of the cost model from it, so that all planners use the same expected costs.
//
//	market, err := spotrisk.New(spotrisk.DefaultOptions())
//	market.ObservePrice(spotrisk.Key{InstanceType: "m7g.large", Zone: "us-east-1a"}, now, 0.0317)
//	terms := market.Terms(spotrisk.TermsInput{Time: now, Types: types, Loss: spotrisk.DefaultLoss()})
//	snapshot.CostModel.Terms = append(snapshot.CostModel.Terms, terms...)
//
// The expected cost of a spot node is its expected price while it lives, plus the rate of its interruptions times the cost of an
// interruption. [Market.Cost] computes this cost. docs/spot.md explains it and says which of its numbers are estimates.
//
// Stability: beta.
package spotrisk
