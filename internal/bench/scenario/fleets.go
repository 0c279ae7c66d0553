package scenario

import (
	"fmt"
	"regexp"
	"strconv"

	"github.com/drawknife/drawknife/internal/workload"
)

// fleetFill is how full the machines of a fleet are.
const fleetFill = 0.4

// maxFleet bounds what is generated.
const maxFleet = 20_000

var fleetName = regexp.MustCompile(`^consolidate(-mixed)?-([1-9][0-9]{0,4})$`)

// IsFleet reports whether a name is that of a fleet to consolidate.
func IsFleet(name string) bool { return fleetName.MatchString(name) }

// Fleets are the fleets of the published figures.
func Fleets() []string {
	return []string{"consolidate-500", "consolidate-mixed-500", "consolidate-2000", "consolidate-mixed-2000"}
}

// SmallFleets are those of the tests.
func SmallFleets() []string { return []string{"consolidate-60", "consolidate-mixed-30"} }

// Fleet makes a fleet to consolidate: consolidate-N are N machines that are two fifths full, consolidate-mixed-N such whose
// pods have constraints.
func Fleet(name string, seed uint64) (*Scenario, error) {
	parts := fleetName.FindStringSubmatch(name)
	if parts == nil {
		return nil, fmt.Errorf("no fleet %q: there are consolidate-N and consolidate-mixed-N", name)
	}
	nodes, err := strconv.Atoi(parts[2])
	if err != nil || nodes > maxFleet {
		return nil, fmt.Errorf("fleet %q: give at most %d machines", name, maxFleet)
	}
	f := workload.Fleet{Nodes: nodes, Fill: fleetFill, Mixed: parts[1] != "", Seed: seed}
	about := "machines two fifths full, pods without constraints"
	if f.Mixed {
		about = "machines two fifths full, half of the pods with constraints, three pools, PodDisruptionBudgets"
	}
	return &Scenario{name, about, seed, f.Snapshot()}, nil
}
