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

// Compile compiles the snapshot, and fails the test if the snapshot is invalid.
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
	// Helper marks the caller as a test helper, as in testing.T.
	Helper()
	// Fatal ends the test.
	Fatal(args ...any)
}

// Planner is a trial of package scheduling or of the internal packages.
type Planner interface {
	// Plan returns the current plan of the trial.
	Plan(context.Context) (*scheduling.Plan, error)
}

// PlanOf returns the plan of the trial.
func PlanOf(t testing.TB, trial Planner) *scheduling.Plan {
	t.Helper()
	p, err := trial.Plan(context.Background())
	if err != nil {
		t.Fatalf("plan of the trial: %v", err)
	}
	return p
}

// MustPlace places the pending pods in the trial.
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

// MustHide hides a node in the trial, and returns how many pods are pending afterwards.
func MustHide(t testing.TB, trial interface{ Hide(string) (int, error) }, name string) int {
	t.Helper()
	n, err := trial.Hide(name)
	if err != nil {
		t.Fatalf("Hide: %v", err)
	}
	return n
}

// Text returns the plan as JSON, to compare it byte for byte.
func Text(t TestingT, p *scheduling.Plan) string {
	t.Helper()
	data, err := json.MarshalIndent(p, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// MustRollback rolls the trial back to a valid mark.
func MustRollback[M any](t TestingT, trial interface{ Rollback(M) error }, to M) {
	t.Helper()
	if err := trial.Rollback(to); err != nil {
		t.Fatal("Rollback:", err)
	}
}

// WantStale checks that the trial refuses to roll back to the mark.
func WantStale[M any](t *testing.T, trial interface{ Rollback(M) error }, to M) {
	t.Helper()
	if err := trial.Rollback(to); !errors.Is(err, scheduling.ErrStaleMark) {
		t.Errorf("Rollback: %v, want ErrStaleMark", err)
	}
}

// PlanIn returns the plan of the trial, like PlanOf, in a property test of the library rapid.
func PlanIn(rt *rapid.T, t Planner) *scheduling.Plan {
	plan, err := t.Plan(rt.Context())
	if err != nil {
		rt.Fatal(err)
	}
	return plan
}

// KeysOf returns the keys of the pods with these names.
func KeysOf(names string) []scheduling.PodKey {
	var out []scheduling.PodKey
	for _, name := range strings.Fields(names) {
		out = append(out, scheduling.PodKey{Namespace: "default", Name: name})
	}
	return out
}

// Show adds the snapshot to the output of a failing property.
func Show(t *rapid.T, s *scheduling.Snapshot) {
	var b bytes.Buffer
	if err := s.Encode(&b); err == nil {
		t.Logf("the snapshot:\n%s", b.String())
	}
}
