package scheduling_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/drawknife/drawknife/api/option"
	"github.com/drawknife/drawknife/cloudprovider"
	"github.com/drawknife/drawknife/internal/surface"
	"github.com/drawknife/drawknife/scheduling"
	clusters "github.com/drawknife/drawknife/scheduling/cluster"
	"github.com/drawknife/drawknife/scheduling/limits"
	"github.com/drawknife/drawknife/scheduling/manifests"
	"github.com/drawknife/drawknife/scheduling/redact"
)

// No function panics on nil or zero values.
func TestSurface(t *testing.T) {
	model, err := scheduling.Compile(&scheduling.Snapshot{})
	if err != nil {
		t.Fatal(err)
	}
	tracker := &limits.Tracker{}
	surface.Survive(t, scheduling.Compile, scheduling.DecodeSnapshot, scheduling.ValidateDefaultTopologySpread, model.Solve, model.Update,
		manifests.Load, manifests.Read, redact.Strip, cloudprovider.LaunchOrder, (&clusters.State{}).Snapshot,
		tracker.SetLimits, tracker.Reserve, tracker.Observe, tracker.Rename, tracker.Release, tracker.Usage, tracker.Entries)
}

// What can't be read says why by type.
func TestTypedErrors(t *testing.T) {
	model, err := scheduling.Compile(&scheduling.Snapshot{})
	if err != nil {
		t.Fatal(err)
	}
	var none context.Context
	_, solve := model.Solve(none, scheduling.Query{})
	_, snapshot := scheduling.DecodeSnapshot(nil)
	_, costs := scheduling.DecodeCostModel(nil)
	_, source := manifests.Read("-", nil)
	for name, err := range map[string]error{
		"Model.Solve": solve, "DecodeSnapshot": snapshot, "DecodeCostModel": costs, "Read": source, "Snapshot.Encode": (&scheduling.Snapshot{}).Encode(nil),
		"Snapshot.EncodeJSON": (&scheduling.Snapshot{}).EncodeJSON(nil),
	} {
		var argument *option.ArgumentError
		if !errors.As(err, &argument) || argument.Function != name || argument.Argument == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, err = scheduling.DecodeSnapshot(strings.NewReader("apiVersion: v1\nkind: Pod\n"))
	var manifest *scheduling.NotSnapshotError
	if !errors.As(err, &manifest) || manifest.Kind != "Pod" {
		t.Errorf("a manifest: %v", err)
	}
	broken := errors.New("broken")
	for name, read := range map[string]func() error{
		"a snapshot": func() error { _, err := scheduling.DecodeSnapshot(iotest.ErrReader(broken)); return err },
		"manifests":  func() error { _, err := manifests.Read("-", iotest.ErrReader(broken)); return err },
	} {
		if err := read(); !errors.Is(err, broken) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
