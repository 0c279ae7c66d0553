package disruption

import (
	"math"
)

// nanoPerUSD is the unit in which planners reckon with money: sums of it are exact, whatever the order.
const nanoPerUSD = 1e9

// nanoUSD is a price as planners reckon with it. What is no number counts as nothing; what is beyond all prices as more
// than any.
func nanoUSD(price float64) int64 {
	switch {
	case math.IsNaN(price):
		return 0
	case price >= math.MaxInt64/nanoPerUSD:
		return math.MaxInt64
	}
	return int64(math.Round(price * nanoPerUSD))
}

func usd(nano int64) float64 { return float64(nano) / nanoPerUSD }
