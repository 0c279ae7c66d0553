package money_test

import (
	"math"
	"testing"

	"github.com/drawknife/drawknife/internal/consolidate/money"
)

func TestNanoUSD(t *testing.T) {
	for _, c := range []struct {
		price float64
		want  int64
	}{{0, 0}, {0.1, 100_000_000}, {-0.25, -250_000_000}, {1e-10, 0}, {math.NaN(), 0}, {math.Inf(1), math.MaxInt64}, {1e12, math.MaxInt64}} {
		if got := money.NanoUSD(c.price); got != c.want {
			t.Errorf("%g USD/h are %d, want %d", c.price, got, c.want)
		}
	}
	// 0.1 ten times is 1, which float64 does not make of it.
	sum, float := int64(0), 0.0
	for range 10 {
		sum, float = sum+money.NanoUSD(0.1), float+0.1
	}
	if money.USD(sum) != 1 || float == 1 {
		t.Errorf("ten times 0.1 is %g, and %g in float64", money.USD(sum), float)
	}
}
