// Package money answers one question: how can prices be added up exactly?
//
// Planners add up prices in whole billionths of a USD per hour. Such sums do not depend on the order of the addition, so plans do not
// depend on this order either. Inputs and outputs are the prices that users know: float64, in USD per hour.
package money

import "math"

// NanoPerUSD is the number of billionths in a USD. Planners compute with whole billionths, because their sums are exact in any order.
const NanoPerUSD = 1e9

// Unlimited is more than any price, in billionths of a USD per hour.
const Unlimited = int64(1) << 60

// NanoUSD converts a price to billionths of a USD. A value that is not a number becomes 0. A value above Unlimited becomes Unlimited.
func NanoUSD(price float64) int64 {
	switch {
	case math.IsNaN(price):
		return 0
	case price >= math.MaxInt64/NanoPerUSD:
		return math.MaxInt64
	}
	return int64(math.Round(price * NanoPerUSD))
}

// USD converts billionths of a USD to USD.
func USD(nano int64) float64 { return float64(nano) / NanoPerUSD }
