package cloudprovider

import "math"

// InterruptionRate says how often the cloud takes back instances that are bought as the same offering. Several offerings share one
// InterruptionRate, so it must not be changed.
//
// Clouds publish only a range: the fraction of instances that were taken back within a month of 730 hours. It is an average of the past,
// not a promise.
type InterruptionRate struct {
	// Low and High are the bounds of the range, as fractions of instances per month, from 0 to 1. If they are equal, the fraction is exact.
	// High is 1 if no upper bound is known.
	Low  float64 `json:"low"`
	High float64 `json:"high"`
	// Source names the source of the range and its date, for people. Optional.
	Source string `json:"source,omitempty"`
}

// Share returns the fraction to use in computations: the middle of the range. If no upper bound is known, it is estimated as one and a half
// times the lower bound. It is 0 for a nil rate.
func (r *InterruptionRate) Share() float64 {
	switch {
	case r == nil:
		return 0
	case r.High >= 1:
		return math.Min(1.5*r.Low, 0.99)
	}
	return (r.Low + r.High) / 2
}

// valid reports whether 0 ≤ Low ≤ High ≤ 1; nil is valid.
func (r *InterruptionRate) valid() bool {
	return r == nil || 0 <= r.Low && r.Low <= r.High && r.High <= 1
}
