package scenario

import (
	"fmt"
	"slices"
	"strings"

	"github.com/drawknife/drawknife/internal/workload"
	"github.com/drawknife/drawknife/scheduling"
)

// Scenario is a workload with a name.
type Scenario struct {
	// Name is the name of the scenario in the results: a letter, or the name of the file.
	Name string
	// About describes the scenario for people.
	About string
	// Seed is the seed of the generator, or 0 if no generator was used.
	Seed     uint64
	Snapshot *scheduling.Snapshot
}

// Size is the number of pods of a generated scenario.
type Size struct {
	Name string
	// About describes the scenario for people.
	About string
	// Full is the number of pods for the published results, and Small is the number of pods for the tests.
	Full, Small int
}

// Sizes returns the sizes of the generated scenarios, in the order of their names.
func Sizes() []Size {
	return []Size{
		{"a", "identical pods", 10_000, 1_000},
		{"b", "50 deployments", 10_000, 1_000},
		{"c", "b, a third spread over zones, a third kept apart by hostname, a third with selectors", 10_000, 1_000},
		{"d", "all different", 5_000, 1_000},
		{"e", "b, on 2,000 nodes that are 60 % full", 5_000, 2_000},
		{"f", "the diverse mix of Karpenter's benchmark", 20_000, 1_000},
		{"g", "the preference mix of Karpenter's benchmark", 4_000, 400},
	}
}

// maxPods is the largest number of generated pods. With more pods, the objects would need too much memory.
const maxPods = 1_000_000

// Generated makes one of the scenarios of Sizes, with the given number of pods. 0 pods means its full size.
func Generated(name string, pods int, seed uint64) (*Scenario, error) {
	sizes := Sizes()
	at := slices.IndexFunc(sizes, func(s Size) bool { return s.Name == strings.ToLower(name) })
	switch {
	case at < 0:
		return nil, fmt.Errorf("unknown scenario %q: known are a to g, h with its files, and files that end in .yaml", name)
	case pods < 0 || pods > maxPods:
		return nil, fmt.Errorf("%d pods: give 1 to %d", pods, maxPods)
	case pods == 0:
		pods = sizes[at].Full
	}
	return &Scenario{sizes[at].Name, sizes[at].About, seed, workload.Seeded(name, pods, seed)}, nil
}
