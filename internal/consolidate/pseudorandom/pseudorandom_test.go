package pseudorandom_test

import (
	"testing"

	"github.com/drawknife/drawknife/internal/consolidate/pseudorandom"
)

// The numbers are those of SplitMix64 as published, so that plans are the same on every computer.
func TestDraw(t *testing.T) {
	s := pseudorandom.Source(1234567)
	for i, want := range []uint64{6457827717110365317, 3203168211198807973, 9817491932198370423} {
		if got := s.Draw(); got != want {
			t.Errorf("number %d is %d, want %d", i, got, want)
		}
	}
	for range 100 {
		if n := s.Below(3); n < 0 || n > 2 {
			t.Errorf("%d is not below 3", n)
		}
	}
}
