package parts

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/drawknife/drawknife/scheduling"
)

// Compile makes a model of the snapshot, which must be sound.
func Compile(t testing.TB, s *scheduling.Snapshot) *scheduling.Model {
	t.Helper()
	m, err := scheduling.Compile(s)
	if err != nil {
		t.Fatalf("Compile: %v", err)
	}
	return m
}

// TestingT contains the methods that testing.T and rapid.T share.
type TestingT interface {
	// Helper marks the caller as a helper, whose errors are reported for its own caller.
	Helper()
	// Fatal ends the test.
	Fatal(args ...any)
}

// Planner is a trial, of the facade or of the rooms behind it.
type Planner interface {
	// Plan returns the present plan of the trial.
	Plan(context.Context) (*scheduling.Plan, error)
}

// PlanOf is the plan of the trial.
func PlanOf(t testing.TB, trial Planner) *scheduling.Plan {
	t.Helper()
	p, err := trial.Plan(context.Background())
	if err != nil {
		t.Fatalf("plan of the trial: %v", err)
	}
	return p
}

// MustPlace places the waiting pods in the trial.
func MustPlace(t testing.TB, trial interface {
	Place(context.Context, scheduling.PlaceOptions) (scheduling.Outcome, error)
}, o scheduling.PlaceOptions) scheduling.Outcome {
	t.Helper()
	out, err := trial.Place(context.Background(), o)
	if err != nil {
		t.Fatalf("Place: %v", err)
	}
	return out
}

// MustHide hides a node in the trial, and returns how many pods wait for a place afterwards.
func MustHide(t testing.TB, trial interface{ Hide(string) (int, error) }, name string) int {
	t.Helper()
	n, err := trial.Hide(name)
	if err != nil {
		t.Fatalf("Hide: %v", err)
	}
	return n
}

// Text is the plan as JSON, to compare byte for byte.
func Text(t TestingT, p *scheduling.Plan) string {
	t.Helper()
	data, err := json.MarshalIndent(p, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// MustRollback rolls the trial back to a mark that is good.
func MustRollback[M any](t TestingT, trial interface{ Rollback(M) error }, to M) {
	t.Helper()
	if err := trial.Rollback(to); err != nil {
		t.Fatal("Rollback:", err)
	}
}

// WantStale rolls the trial back to a mark that must be refused.
func WantStale[M any](t *testing.T, trial interface{ Rollback(M) error }, to M) {
	t.Helper()
	if err := trial.Rollback(to); !errors.Is(err, scheduling.ErrStaleMark) {
		t.Errorf("Rollback: %v, want ErrStaleMark", err)
	}
}

// PlanIn is the plan of a trial in a property.
func PlanIn(rt *rapid.T, t Planner) *scheduling.Plan {
	plan, err := t.Plan(rt.Context())
	if err != nil {
		rt.Fatal(err)
	}
	return plan
}

// KeysOf are the keys of pods by name.
func KeysOf(names string) []scheduling.PodKey {
	var out []scheduling.PodKey
	for _, name := range strings.Fields(names) {
		out = append(out, scheduling.PodKey{Namespace: "default", Name: name})
	}
	return out
}

// Show adds the snapshot to the output of a failing test.
func Show(t *rapid.T, s *scheduling.Snapshot) {
	var b bytes.Buffer
	if err := s.Encode(&b); err == nil {
		t.Logf("the snapshot:\n%s", b.String())
	}
}
