package launching_test

import (
	"testing"

	"github.com/drawknife/drawknife/internal/engine/valuing"
	"github.com/drawknife/drawknife/internal/parts"
	"github.com/drawknife/drawknife/internal/trialtest"
	"github.com/drawknife/drawknife/scheduling"
)

// LaunchLeast launches for no more than LaunchSome, and keeps to its tries, to less than below, and to no more nodes than
// most. Fleets for which it launches for less are those of disruption's TestGlobalSmallFleets.
func TestLaunchLeastBounds(t *testing.T) {
	good, wide := parts.InstanceType("good", 1, "cpu=5", "memory=5Gi"), parts.InstanceType("wide", 1.2, "cpu=6", "memory=6Gi")
	m := parts.Compile(t, parts.Cluster(good, wide,
		parts.Node("a", parts.Bound(parts.Pods("p", 2, parts.Requests("cpu=3"))...)), parts.Node("b", parts.Bound(parts.Pods("q", 2, parts.Requests("cpu=2"))...))))
	w, err := valuing.FindWorth(t.Context(), m.Engine(), scheduling.Query{})
	if err != nil {
		t.Fatal(err)
	}
	trial := trialtest.New(m.Engine())
	parts.MustHide(t, trial, "a")
	before := trial.Mark()
	some, ok := trial.LaunchSome(scheduling.Query{}, w, 5, 1e6)
	if !ok {
		t.Fatal("LaunchSome launched nothing")
	}
	parts.MustRollback(t, trial, before)
	least, ok := trial.LaunchLeast(scheduling.Query{}, w, 5, 20, 1e6)
	if !ok || least > some {
		t.Fatalf("price %v (%v), LaunchSome %v", least, ok, some)
	}
	parts.MustRollback(t, trial, before)
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
