package cloudprovider_test

import (
	"math"
	"testing"

	"github.com/drawknife/drawknife/cloudprovider"
)

// The share to compute with is the middle of a band, and of an open band half as much again as its end; a copy of an offering has a rate of its own.
func TestInterruptionRate(t *testing.T) {
	for _, c := range []struct{ low, high, want float64 }{{0, 0.05, 0.025}, {0.05, 0.1, 0.075}, {0.2, 1, 0.3}, {0.1, 0.1, 0.1}, {0.9, 1, 0.99}} {
		if got := (&cloudprovider.InterruptionRate{Low: c.low, High: c.high}).Share(); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%v to %v: %v, want %v", c.low, c.high, got, c.want)
		}
	}
	if (*cloudprovider.InterruptionRate)(nil).Share() != 0 {
		t.Error("no rate is some")
	}
	o := cloudprovider.Offering{InterruptionRate: &cloudprovider.InterruptionRate{High: 0.05}}
	if c := o.DeepCopy(); c.InterruptionRate == o.InterruptionRate || *c.InterruptionRate != *o.InterruptionRate {
		t.Error("a copy shares the rate")
	}
}
