package cloudprovider

import "math"

// InterruptionRate says how often the cloud takes back instances that are bought as the same offering. Offerings share it: it must not be
// changed.
//
// Clouds publish only a band: the share of instances that were taken back within a month of 730 hours. It is an average of the past, not a
// promise.
type InterruptionRate struct {
	// Low and High are the ends of the band, as shares of instances per month, from 0 to 1. If they are equal, the share is exact. High is
	// 1 if no upper end is known.
	Low  float64 `json:"low"`
	High float64 `json:"high"`
	// Source is the source of the figures and their date, for people. Optional.
	Source string `json:"source,omitempty"`
}

// Share returns the share to use in computations: the middle of the band. For a band without an upper end, it is one and a half times the
// lower end. This is an estimate. A nil rate is 0.
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
