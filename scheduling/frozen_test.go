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
	frozen.Check(t, frozen.Recording{File: "testdata/frozen/plans.txt", Count: 5000, Short: 300, Update: *updateFrozen, Answer: func(t *testing.T, i int) (string, []byte) {
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
