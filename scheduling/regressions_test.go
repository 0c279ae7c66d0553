package scheduling_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/drawknife/drawknife/internal/planvalidator"
	"github.com/drawknife/drawknife/scheduling"
)

// found are the snapshots of a folder of testdata: counter-examples that properties have found, by the name of the file.
func found(t *testing.T, folder string) map[string]*scheduling.Snapshot {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", folder, "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no snapshots in testdata/%s: %v", folder, err)
	}
	out := map[string]*scheduling.Snapshot{}
	for _, path := range files {
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		s, err := scheduling.DecodeSnapshot(f)
		_ = f.Close()
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		out[filepath.Base(path)] = s
	}
	return out
}

// Pods without a place that had one, as TestPlansAreComplete found them: SCH-165.
func TestPlansOnceIncomplete(t *testing.T) {
	for name, s := range found(t, "complete") {
		t.Run(name, func(t *testing.T) {
			for _, fault := range planvalidator.Check(s, solve(t, s)) {
				t.Errorf("%v", fault)
			}
		})
	}
}

// Pods taken out of their plans that the judge did not miss, as TestWithheldPlacesAreNoticed found them: SCH-165.
func TestPlacesOnceWithheldUnnoticed(t *testing.T) {
	for name, s := range found(t, "withheld") {
		t.Run(name, func(t *testing.T) {
			if last, faults := withhold(s, solve(t, s)); !noticed(last, faults) {
				t.Errorf("%s was taken out of the plan, and that is not noticed: %v", last, faults)
			}
		})
	}
}

// Pods on nodes that don't meet what they ask for, as TestPlansAreValid found them: SCH-030, SCH-158, SCH-177.
func TestPlansOnceInvalid(t *testing.T) {
	for name, s := range found(t, "valid") {
		t.Run(name, func(t *testing.T) {
			for _, fault := range planvalidator.Check(s, solve(t, s)) {
				t.Errorf("%v", fault)
			}
		})
	}
}

// A handful of pods of which once more could be placed than the plan did, as TestNothingPlacesMore and TestMoreTypesLoseNoPods
// found them: SCH-081, SCH-171.
func TestPlansThatOncePlacedLess(t *testing.T) {
	for name, s := range found(t, "joint") {
		t.Run(name, func(t *testing.T) {
			p := solve(t, s)
			if better := planvalidator.Better(s, p); better != "" || len(p.Unschedulable) > 0 {
				t.Errorf("%d pods have no place; a better way: %s", len(p.Unschedulable), better)
			}
		})
	}
}

// What a trial says a plan costs when all nodes are gone, where the plan once cost something else, as
// TestOutcomeAgreesWithPlan found it.
func TestOutcomesThatOnceDisagreed(t *testing.T) {
	for name, s := range found(t, "outcome") {
		t.Run(name, func(t *testing.T) {
			trial := compile(t, s).Trial()
			for i := range s.Nodes {
				if _, err := trial.Hide(s.Nodes[i].Name); err != nil {
					t.Fatal(err)
				}
			}
			out, err := trial.Place(t.Context(), scheduling.PlaceOptions{})
			if err != nil {
				t.Fatal(err)
			}
			p, err := trial.Plan(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if d := out.NewCost - p.HourlyCost; d > 1e-6 || d < -1e-6 {
				t.Errorf("outcome costs %v, the plan %v", out.NewCost, p.HourlyCost)
			}
		})
	}
}

// Empty nodes that raised the cost, as TestEmptyMachineNeverRaisesTheCost found them; the node's name begins with
// "extra".
func TestMachinesThatOnceRaisedTheCost(t *testing.T) {
	for name, with := range found(t, "monotone") {
		t.Run(name, func(t *testing.T) {
			without := *with
			without.Nodes = slices.DeleteFunc(slices.Clone(with.Nodes), func(n scheduling.Node) bool { return strings.HasPrefix(n.Name, "extra") })
			after, before := unwishing(t, with), unwishing(t, &without)
			if len(after.Unschedulable) != len(before.Unschedulable) || after.HourlyCost > before.HourlyCost+1e-9 {
				t.Errorf("with the node %v USD/h and %d pods without a place, without it %v and %d",
					after.HourlyCost, len(after.Unschedulable), before.HourlyCost, len(before.Unschedulable))
			}
		})
	}
}
