// Package money answers one question: how much do prices come to together, exactly?
//
// Planners add up prices in whole billionths of a USD per hour: such sums do not depend on their order, so that neither do plans. Input and
// output are prices as users know them, float64 USD per hour.
package money

import "math"

// NanoPerUSD is the unit in which planners compute with money: sums of it are exact, whatever the order.
const NanoPerUSD = 1e9

// Unlimited is more than anything costs, in billionths of a USD per hour.
const Unlimited = int64(1) << 60

// NanoUSD is a price as planners compute with it. What is no number counts as nothing; what is beyond all prices as more
// than any.
func NanoUSD(price float64) int64 {
	switch {
	case math.IsNaN(price):
		return 0
	case price >= math.MaxInt64/NanoPerUSD:
		return math.MaxInt64
	}
	return int64(math.Round(price * NanoPerUSD))
}

// USD converts billionths back.
func USD(nano int64) float64 { return float64(nano) / NanoPerUSD }
