package oracle_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/drawknife/drawknife/internal/e2e/oracle"
	"github.com/drawknife/drawknife/internal/e2e/oracle/snapshots"
	"github.com/drawknife/drawknife/scheduling"
)

// defaultSnapshots is what CI replays.
const defaultSnapshots = 2000

// tally counts what was replayed, up to the first snapshot that is refused: what follows is rapid shrinking it.
type tally struct {
	snapshots, replays, pods, placed, refusals int
	// shown counts the snapshots with a promise of each trait.
	shown map[string]int
	began time.Time
	ended bool
}

// add counts one replayed snapshot.
func (c *tally) add(o tally) {
	if c.ended {
		return
	}
	c.snapshots++
	c.pods += o.pods
	c.replays += o.replays
	c.placed += o.placed
	c.refusals += o.refusals
	for name := range o.shown {
		c.shown[name]++
	}
	c.ended = o.refusals > 0
}

func (c *tally) String() string {
	rate := 0.0
	if c.placed > 0 {
		rate = 100 * float64(c.refusals) / float64(c.placed)
	}
	return fmt.Sprintf("%d snapshots with %d pods: %d placements replayed in %d choices, %d refused (%.4f%%), %s",
		c.snapshots, c.pods, c.placed, c.replays, c.refusals, rate, time.Since(c.began).Round(time.Millisecond))
}

// judge plans the snapshot and replays every choice; it returns what kube-scheduler refuses, one line each. A plan that
// promises what can't be bought counts as refused.
func judge(s *scheduling.Snapshot, q scheduling.Query) (c tally, refused []string, err error) {
	ctx := context.Background()
	c.pods = len(s.Pods) + len(s.Placeholders)
	model, err := scheduling.Compile(s)
	if err != nil {
		return c, nil, fmt.Errorf("compiling: %w", err)
	}
	plan, err := model.Solve(ctx, q)
	if err != nil {
		return c, nil, fmt.Errorf("solving: %w", err)
	}
	if faults := oracle.Purchases(s, plan, q); len(faults) > 0 {
		c.refusals++
		return c, faults, nil
	}
	choices, err := oracle.Choices(s, plan)
	if err != nil {
		c.refusals++
		return c, []string{err.Error()}, nil
	}
	c.shown = traitsOf(s, q, plan)
	for i, choice := range choices {
		refusals, err := oracle.Replay(ctx, s, plan, choice)
		if err != nil {
			return c, nil, fmt.Errorf("replaying choice %d: %w", i, err)
		}
		c.replays++
		c.placed += len(plan.Order)
		c.refusals += len(refusals)
		for _, r := range refusals {
			refused = append(refused, fmt.Sprintf("choice %d: %s", i, r))
		}
		if len(refusals) > 0 {
			break
		}
	}
	return c, refused, nil
}

// TestRandomSnapshots is the oracle proper: every pod that a plan places is bound by kube-scheduler, whatever the
// provider makes of the plan's nodes.
func TestRandomSnapshots(t *testing.T) {
	features := featuresFromEnv(t)
	setRapid(t)
	c := &tally{began: time.Now(), shown: map[string]int{}}
	t.Cleanup(func() { fmt.Println("oracle:", c) })
	rapid.Check(t, func(t *rapid.T) {
		s := snapshots.Of(features).Draw(t, "snapshot")
		q := snapshots.Queries(features).Draw(t, "query")
		one, refused, err := judge(s, q)
		c.add(one)
		if err != nil {
			save(t, s, q, err.Error())
			t.Fatal(err)
		}
		if len(refused) > 0 {
			save(t, s, q, refused...)
			t.Fatalf("kube-scheduler refuses what was planned:\n%s", strings.Join(refused, "\n"))
		}
	})
	c.checkTraits(t, features)
}

// featuresFromEnv are those of ORACLE_FEATURES, else all.
func featuresFromEnv(t *testing.T) []snapshots.Feature {
	text := os.Getenv("ORACLE_FEATURES")
	switch text {
	case "":
		return snapshots.All()
	case "none":
		return nil
	}
	features, err := snapshots.Parse(text)
	if err != nil {
		t.Fatalf("ORACLE_FEATURES: %v", err)
	}
	return features
}

// setRapid hands ORACLE_SNAPSHOTS and ORACLE_SEED to rapid. The seed is fixed by default, so that CI fails for changes
// of the code alone.
func setRapid(t *testing.T) {
	setFlag(t, "rapid.checks", "ORACLE_SNAPSHOTS", strconv.Itoa(defaultSnapshots))
	setFlag(t, "rapid.seed", "ORACLE_SEED", "1")
	if err := flag.Set("rapid.nofailfile", "true"); err != nil {
		t.Fatal(err)
	}
}

// setFlag gives a flag the number in a variable of the environment, or another where that is not set.
func setFlag(t *testing.T, name, env, unset string) {
	value := os.Getenv(env)
	if value == "" {
		value = unset
	}
	if _, err := strconv.ParseUint(value, 10, 64); err != nil {
		t.Fatalf("%s: %v", env, err)
	}
	if err := flag.Set(name, value); err != nil {
		t.Fatal(err)
	}
}

// save writes the snapshot for people: rapid runs the smallest counter-example last, so that is what remains.
// The query is in the first line.
func save(t *rapid.T, s *scheduling.Snapshot, q scheduling.Query, why ...string) {
	dir := os.Getenv("ORACLE_FOUND")
	if dir == "" {
		dir = filepath.Join("testdata", "found")
	}
	var text strings.Builder
	query, err := json.Marshal(q)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(&text, "%s%s\n", queryMark, query)
	for _, line := range why {
		fmt.Fprintf(&text, "# %s\n", strings.ReplaceAll(line, "\n", "\n# "))
	}
	if err := s.Encode(&text); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "latest.yaml"), []byte(text.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}
