package scenario

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/drawknife/drawknife/internal/workload"
)

// fleetFill is the share of a fleet's capacity that pods use.
const fleetFill = 0.4

// maxFleet limits the number of nodes of a fleet.
const maxFleet = 20_000

var fleetName = regexp.MustCompile(`^consolidate(-mixed)?-([1-9][0-9]{0,4})$`)

// fleetPrefix, followed by the name of an ordinary fleet, is the name of the scenario that consolidates this fleet.
const fleetPrefix = "consolidate-"

// IsFleet reports whether a name is the name of a fleet to consolidate.
func IsFleet(name string) bool {
	if fleetName.MatchString(name) {
		return true
	}
	ordinary, found := strings.CutPrefix(name, fleetPrefix)
	_, err := workload.ParseOrdinaryFleet(ordinary)
	return found && err == nil
}

// Fleets returns the names of the fleets of the published results.
func Fleets() []string {
	return []string{"consolidate-500", "consolidate-mixed-500", "consolidate-2000", "consolidate-mixed-2000"}
}

// SmallFleets returns the names of the fleets of the tests.
func SmallFleets() []string {
	return []string{"consolidate-60", "consolidate-mixed-30", fleetPrefix + "m5-both-3z-1-20n"}
}

// OrdinaryFleets returns the names of fleets of ordinary clusters with the given number of nodes. Each combination of one or three instance
// families, 3 or 6 zones, and rules or no rules is one fleet.
func OrdinaryFleets(nodes int, seed uint64) []string {
	var names []string
	for _, families := range [][]string{{"m5"}, {"m5", "c5", "r5"}} {
		for _, rules := range []string{"none", "both"} {
			for _, zones := range []int{3, 6} {
				f := workload.OrdinaryFleet{Cluster: workload.Ordinary{Families: families, Rules: rules, Zones: zones, Seed: seed}, Nodes: nodes}
				names = append(names, fleetPrefix+f.Name())
			}
		}
	}
	return names
}

// Fleet makes a fleet to consolidate. consolidate-N has N nodes, and pods use two fifths of its capacity. In consolidate-mixed-N, the pods
// have constraints. consolidate-FAMILIES-RULES-ZONESz-SEED-Nn has N nodes of an ordinary cluster. The seed of the fleet is SEED.
func Fleet(name string, seed uint64) (*Scenario, error) {
	parts := fleetName.FindStringSubmatch(name)
	if parts == nil {
		return ordinaryFleet(name)
	}
	nodes, err := strconv.Atoi(parts[2])
	if err != nil || nodes > maxFleet {
		return nil, fmt.Errorf("fleet %q: give a number of nodes up to %d", name, maxFleet)
	}
	f := workload.Fleet{Nodes: nodes, Fill: fleetFill, Mixed: parts[1] != "", Seed: seed}
	about := "nodes two fifths full, pods without constraints"
	if f.Mixed {
		about = "nodes two fifths full, half of the pods with constraints, three pools, PodDisruptionBudgets"
	}
	return &Scenario{name, about, seed, f.Snapshot()}, nil
}

func ordinaryFleet(name string) (*Scenario, error) {
	f, err := workload.ParseOrdinaryFleet(strings.TrimPrefix(name, fleetPrefix))
	if err != nil {
		return nil, fmt.Errorf("unknown fleet %q; known are consolidate-N, consolidate-mixed-N and consolidate-m5-none-3z-1-Nn: %w", name, err)
	}
	s, err := f.Snapshot()
	if err != nil {
		return nil, err
	}
	about := fmt.Sprintf("nodes two fifths full of an ordinary cluster of %s in %d zones, rules of pods: %s",
		strings.Join(f.Cluster.Families, ", "), f.Cluster.Zones, f.Cluster.Rules)
	return &Scenario{name, about, f.Cluster.Seed, s}, nil
}
