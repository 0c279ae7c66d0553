package engine

import (
	"fmt"
	"testing"

	"github.com/drawknife/drawknife/cloudprovider/conformance"
)

// witness wraps a test and remembers its messages.
type witness struct {
	testing.TB
	reason string
	faults []string
}

func (w *witness) Skip(args ...any) {
	w.TB.Helper()
	w.reason = fmt.Sprint(args...)
	w.TB.Skip(args...)
}

func (w *witness) Skipf(format string, args ...any) {
	w.TB.Helper()
	w.Skip(fmt.Sprintf(format, args...))
}

func (w *witness) Error(args ...any) {
	w.TB.Helper()
	w.faults = append(w.faults, fmt.Sprint(args...))
	w.TB.Error(args...)
}

func (w *witness) Errorf(format string, args ...any) {
	w.TB.Helper()
	w.Error(fmt.Sprintf(format, args...))
}

func (w *witness) Fatal(args ...any) {
	w.TB.Helper()
	w.faults = append(w.faults, fmt.Sprint(args...))
	w.TB.Fatal(args...)
}

func (w *witness) Fatalf(format string, args ...any) {
	w.TB.Helper()
	w.Fatal(fmt.Sprintf(format, args...))
}

// result returns how a scenario ended.
func (w *witness) result(s scenario) conformance.Result {
	r := conformance.Result{Level: conformance.Engine, Clause: s.name, Says: s.says, Outcome: conformance.Passed}
	switch {
	case w.Failed():
		r.Outcome, r.Faults = conformance.Failed, w.faults
	case w.Skipped():
		r.Outcome, r.Reason = conformance.Skipped, w.reason
	}
	return r
}
