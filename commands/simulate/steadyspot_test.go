package simulate

import (
	"strings"
	"testing"
)

// Steady spot prices are higher than those of the single day, estimates are marked, and a saved snapshot has them already.
func TestSteadySpotPrices(t *testing.T) {
	seen, steady := simulate(t, "", "-o", "json", "--spot-prices", "seen").plan(t), simulate(t, "", "-o", "json").plan(t)
	if steady.Summary.HourlyCost <= seen.Summary.HourlyCost || steady.Summary.Estimated == 0 || seen.Summary.Estimated != 0 {
		t.Errorf("%v with %d estimates, at the prices seen %v with %d", steady.Summary.HourlyCost, steady.Summary.Estimated, seen.Summary.HourlyCost, seen.Summary.Estimated)
	}
	confidences := map[string]int{}
	for _, p := range steady.Prices {
		confidences[p.CapacityType+" "+p.Confidence] += p.Nodes
	}
	if confidences["spot estimated"] != steady.Summary.Estimated || confidences["on-demand dated"] == 0 {
		t.Errorf("prices %v, %d estimates", confidences, steady.Summary.Estimated)
	}
	if r := simulate(t, "", "--spot-prices", "low"); r.code == exitPlaced || !strings.Contains(r.stderr, "--spot-prices") {
		t.Errorf("status %d: %s", r.code, r.stderr)
	}
}
