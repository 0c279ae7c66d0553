package scheduling_test

import (
	"testing"

	"github.com/drawknife/drawknife/internal/engine/valuing"
	"github.com/drawknife/drawknife/internal/trialtest"
	"github.com/drawknife/drawknife/scheduling"
)

// LaunchLeast launches for no more than LaunchSome, and keeps to its tries, to less than below, and to no more nodes than
// most. Fleets for which it launches for less are those of disruption's TestGlobalSmallFleets.
func TestLaunchLeastBounds(t *testing.T) {
	good, wide := machineType("good", 1, "cpu=5", "memory=5Gi"), machineType("wide", 1.2, "cpu=6", "memory=6Gi")
	m := compile(t, cluster(good, wide,
		node("a", bound(pods("p", 2, requests("cpu=3"))...)), node("b", bound(pods("q", 2, requests("cpu=2"))...))))
	w, err := valuing.FindWorth(t.Context(), m.Engine(), scheduling.Query{})
	if err != nil {
		t.Fatal(err)
	}
	trial := trialtest.New(m.Engine())
	mustHide(t, trial, "a")
	before := trial.Mark()
	some, ok := trial.LaunchSome(scheduling.Query{}, w, 5, 1e6)
	if !ok {
		t.Fatal("LaunchSome launched nothing")
	}
	mustRollback(t, trial, before)
	least, ok := trial.LaunchLeast(scheduling.Query{}, w, 5, 20, 1e6)
	if !ok || least > some {
		t.Fatalf("price %v (%v), LaunchSome %v", least, ok, some)
	}
	mustRollback(t, trial, before)
	for name, c := range map[string]struct {
		most, tries int
		below       float64
	}{
		"for less": {5, 20, least}, "with no node": {0, 20, 1e6}, "with no try": {5, 0, 1e6},
	} {
		if price, ok := trial.LaunchLeast(scheduling.Query{}, w, c.most, c.tries, c.below); ok || len(trial.Planned(before, 0)) > 0 {
			t.Errorf("%s: launched for %v", name, price)
		}
	}
}
