package resources

import "math"

// Fits reports whether need is at most have in every resource.
func Fits(need, have []int64) bool {
	for i, n := range need {
		if n > have[i] {
			return false
		}
	}
	return true
}

// HowMany returns how many pods with the requests need fit into have, but at most limit.
func HowMany(need, have []int64, limit int) int {
	n := int64(limit)
	for i, v := range need {
		if v <= 0 {
			continue
		}
		if k := have[i] / v; k < n {
			n = k
		}
	}
	return int(max(n, 0))
}

// AddScaled adds k times v to into.
func AddScaled(into, v []int64, k int64) {
	for i, x := range v {
		into[i] += k * x
	}
}

// LargestShare returns the largest share of a resource of alloc that the need takes. If it is above 1, the need does not fit.
func LargestShare(need, alloc []int64) float64 {
	share := 0.0
	for d, n := range need {
		if n <= 0 {
			if alloc[d] < 0 {
				return math.Inf(1)
			}
			continue
		}
		if n > alloc[d] {
			return math.Inf(1)
		}
		share = max(share, float64(n)/float64(alloc[d]))
	}
	return share
}
