package resources

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/drawknife/drawknife/internal/seeded"
)

// HowMany and Fits agree: so many fit, one more does not.
func TestHowManyAgreesWithFits(t *testing.T) {
	seeded.Check(t, func(t *rapid.T) {
		need, have := make([]int64, 3), make([]int64, 3)
		for d := range need {
			need[d], have[d] = rapid.Int64Range(0, 50).Draw(t, "need"), rapid.Int64Range(0, 1000).Draw(t, "have")
		}
		limit := rapid.IntRange(0, 40).Draw(t, "limit")
		n := HowMany(need, have, limit)
		times := func(k int64) []int64 { out := make([]int64, 3); AddScaled(out, need, k); return out }
		if n < 0 || n > limit || !Fits(times(int64(n)), have) {
			t.Errorf("%d of %v do not fit in %v (limit %d)", n, need, have, limit)
		}
		if n < limit && Fits(times(int64(n)+1), have) {
			t.Errorf("%d of %v fit in %v, one more does as well", n, need, have)
		}
	})
}
