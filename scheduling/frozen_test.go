package scheduling_test

import (
	"flag"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/drawknife/drawknife/internal/frozen"
	"github.com/drawknife/drawknife/scheduling"
)

var updateFrozen = flag.Bool("update", false, "record digests of plans again")

// Plans of random snapshots, half of them with rules between pods, volumes, priorities and reservations, are as recorded.
func TestFrozenPlans(t *testing.T) {
	generators := []func(*rapid.T) *scheduling.Snapshot{randomSnapshot, randomRuledSnapshot}
	checkFrozen(t, "testdata/frozen/plans.txt", 5000, 300, generators)
}

// Plans of random snapshots with gangs are as recorded.
func TestFrozenGangs(t *testing.T) {
	generators := []func(*rapid.T) *scheduling.Snapshot{withRandomGangs(randomSnapshot), withRandomGangs(randomRuledSnapshot)}
	checkFrozen(t, "testdata/frozen/gangs.txt", 1000, 150, generators)
}

func withRandomGangs(generate func(*rapid.T) *scheduling.Snapshot) func(*rapid.T) *scheduling.Snapshot {
	return func(t *rapid.T) *scheduling.Snapshot {
		s := generate(t)
		s.Gangs = randomGangs(t, s)
		return s
	}
}

// checkFrozen compares plans of snapshots of the two generators in turn.
func checkFrozen(t *testing.T, file string, count, short int, generators []func(*rapid.T) *scheduling.Snapshot) {
	t.Helper()
	frozen.Check(t, frozen.Recording{File: file, Count: count, Short: short, Update: *updateFrozen, Answer: func(t *testing.T, i int) (string, []byte) {
		m, err := scheduling.Compile(frozen.Drawn(generators[i%2], i))
		if err != nil {
			t.Fatalf("snapshot %d: %v", i, err)
		}
		p, err := m.Solve(t.Context(), scheduling.Query{})
		if err != nil {
			t.Fatalf("snapshot %d: %v", i, err)
		}
		return fmt.Sprintf("%s/%d", []string{"plain", "ruled"}[i%2], i), []byte(text(t, p))
	}})
}
