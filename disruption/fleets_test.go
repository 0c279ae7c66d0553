package disruption_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/drawknife/drawknife/disruption"
	"github.com/drawknife/drawknife/internal/workload"
	"github.com/drawknife/drawknife/scheduling"
)

// fleetSpec describes a fleet to make up; see workload.Fleet.
type fleetSpec struct {
	nodes int
	fill  float64
	mixed bool
	dense bool
}

func (f fleetSpec) String() string {
	kind := "plain"
	if f.mixed {
		kind = "mixed"
	}
	return fmt.Sprintf("%s/nodes=%d", kind, f.nodes)
}

// snapshot makes the fleet; the same spec gives the same.
func (f fleetSpec) snapshot() *scheduling.Snapshot {
	return workload.Fleet{Nodes: f.nodes, Fill: f.fill, Mixed: f.mixed, Dense: f.dense}.Snapshot()
}

func surveyed(t testing.TB, s *scheduling.Snapshot) *disruption.Fleet {
	t.Helper()
	f, err := disruption.Survey(disruption.Input{View: disruption.ViewOf(s)})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// thrifty has no thresholds and no cool-downs.
func thrifty() *disruption.Global {
	return &disruption.Global{PayBack: new(time.Duration), MinSavingShare: new(float64), DisruptionPrice: new(float64), CoolDown: new(time.Duration), SpotToSpot: true, SpotToSpotTypes: ptr(1), ValidationDelay: new(time.Duration), DrainLimit: new(time.Duration)}
}

// costOf is what the fleet's nodes cost, USD per hour.
func costOf(t testing.TB, s *scheduling.Snapshot) float64 {
	t.Helper()
	m, err := scheduling.Compile(s)
	if err != nil {
		t.Fatal(err)
	}
	sum := 0.0
	for i := range s.Nodes {
		if p, ok := m.NodePrice(s.Nodes[i].Name); ok {
			sum += p.Price
		}
	}
	return sum
}
