package launch

import (
	"math"
	"strconv"

	"github.com/drawknife/drawknife/cloudprovider"
)

// roughly returns a cost function that rounds costs to three significant digits, and remembers them. Expected costs change from minute to
// minute, because older prices and interruptions get less weight. Without rounding, a launch that is repeated a moment later would be a
// different request, which EC2 refuses under the same client token. A cost that equals the offering's price is not rounded.
func roughly(cost cloudprovider.LaunchCost) cloudprovider.LaunchCost {
	if cost == nil {
		return nil
	}
	known := map[*cloudprovider.Offering]float64{}
	return func(t *cloudprovider.InstanceType, o *cloudprovider.Offering) float64 {
		rounded, ok := known[o]
		if !ok {
			if rounded = cost.Of(cloudprovider.Candidate{Type: t, Offering: o}); rounded != o.Price {
				rounded = threeDigits(rounded)
			}
			known[o] = rounded
		}
		return rounded
	}
}

// threeDigits returns the nearest number with three significant digits.
func threeDigits(usd float64) float64 {
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(usd, 'e', 2, 64), 64)
	if err != nil {
		return usd
	}
	return rounded
}

// reordered reports whether sorting by cost and sorting by price give different orders: whether some candidate has a lower cost than a
// later candidate but a higher price. The candidates must be sorted by cost.
func reordered(candidates []cloudprovider.Candidate, cost cloudprovider.LaunchCost) bool {
	if cost == nil {
		return false
	}
	highest := math.Inf(-1) // highest price of the candidates with a lower cost than the current candidate
	for i := 0; i < len(candidates); {
		next, same := i, cost.Of(candidates[i])
		for ; next < len(candidates) && cost.Of(candidates[next]) == same; next++ {
			if candidates[next].Offering.Price < highest {
				return true
			}
		}
		for ; i < next; i++ {
			highest = max(highest, candidates[i].Offering.Price)
		}
	}
	return false
}
