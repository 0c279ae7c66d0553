// Package spotrisk says what spot nodes cost when interruptions are counted: it keeps what is known of the spot market of each instance
// type in each zone, and makes of it terms of the cost model, so that all planners choose by the same expected costs.
//
//	market, err := spotrisk.New(spotrisk.DefaultOptions())
//	market.ObservePrice(spotrisk.Key{InstanceType: "m7g.large", Zone: "us-east-1a"}, now, 0.0317)
//	terms := market.Terms(spotrisk.TermsInput{Time: now, Types: types, Loss: spotrisk.DefaultLoss()})
//	snapshot.CostModel.Terms = append(snapshot.CostModel.Terms, terms...)
//
// The expected cost of a spot node is its expected price while it lives, plus how often it is interrupted times what an interruption
// costs. [Market.Cost] computes it, and docs/spot.md explains it and says which of the figures are estimates.
//
// Stability: beta.
package spotrisk
