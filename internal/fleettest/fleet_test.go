package fleettest_test

import (
	"testing"

	"github.com/drawknife/drawknife/internal/fleettest"
)

// Nodes of a fleet are candidates whose price is that of their type, and that consolidation accepts.
func TestFleet(t *testing.T) {
	f := fleettest.New()
	f.Node("a", "c4", fleettest.Pods("p", 2, "1")...)
	f.Node("b", "c16", fleettest.Pods("q", 1, "1")...)
	x := f.Context(t)
	for i, c := range fleettest.Candidates(t, x, "a", "b") {
		if want := []float64{0.2, 0.8}[i]; c.Price != want || c.Blocked != nil || len(c.Moving) != 2-i {
			t.Errorf("%s costs %g, %d pods move, blocked: %v", c.Name, c.Price, len(c.Moving), c.Blocked)
		}
	}
}
