package disruption_test

import (
	"os"
	"strconv"
	"testing"

	"github.com/drawknife/drawknife/disruption"
	"github.com/drawknife/drawknife/scheduling"
)

// With default thresholds a mixed fleet that is two fifths full evicts fewer pods for what it saves than without. For one of 500 nodes:
//
//	DRAWKNIFE_EVICTIONS=500 go test ./disruption -run TestGlobalEvictions -v -timeout 0
func TestGlobalEvictions(t *testing.T) {
	nodes := 40
	if text := os.Getenv("DRAWKNIFE_EVICTIONS"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			t.Fatalf("DRAWKNIFE_EVICTIONS=%q: give a number of nodes", text)
		}
		nodes = n
	}
	s := fleetSpec{nodes: nodes, fill: 0.4, mixed: true}.snapshot()
	defaults := restless()
	byDefault := evictionsToRest(t, "default thresholds", defaults, s)
	if without := evictionsToRest(t, "no thresholds", thrifty(), s); byDefault >= without {
		t.Errorf("%.1f evictions for each USD/h saved with default thresholds, %.1f without", byDefault, without)
	}
}

// evictionsToRest carries plans out until one has no command, 15 at most, and returns how many evictions each USD/h saved took.
func evictionsToRest(t *testing.T, name string, p disruption.Planner, s *scheduling.Snapshot) float64 {
	t.Helper()
	before, moved := costOf(t, s), 0
	for round := 1; round <= 15; round++ {
		next, n, evicted := rounds(t, p, s, 1, false)
		if n == 0 {
			break
		}
		s, moved = next, moved+evicted
		cost := costOf(t, s)
		t.Logf("%s: round %d: %d evictions so far, %.2f USD/h after %.2f: %.1f for each USD/h saved", name, round, moved, cost, before, float64(moved)/(before-cost))
	}
	return float64(moved) / (before - costOf(t, s))
}
