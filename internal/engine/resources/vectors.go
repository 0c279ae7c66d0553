package resources

import "math"

// Fits reports whether the amounts of need are at most the amounts of have, for every resource.
func Fits(need, have []int64) bool {
	for i, n := range need {
		if n > have[i] {
			return false
		}
	}
	return true
}

// HowMany returns how many pods fit into the free amounts have if each pod requests the amounts need. It returns at most limit.
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

// AddScaled multiplies the vector v by k and adds the product to the vector into.
func AddScaled(into, v []int64, k int64) {
	for i, x := range v {
		into[i] += k * x
	}
}

// LargestShare returns the largest share that the need takes of any resource of a node with the allocatable amounts alloc. If the need does
// not fit, it returns infinity.
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
