package oracle_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/drawknife/drawknife/scheduling"
)

// TestRegressions replays the snapshots that were once refused.
func TestRegressions(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "regressions", "*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Fatal("testdata/regressions has no snapshots")
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yaml"), func(t *testing.T) {
			_, refused, err := judge(readSnapshot(t, file))
			if err != nil {
				t.Fatal(err)
			}
			for _, line := range refused {
				t.Error(line)
			}
		})
	}
}

func readSnapshot(t *testing.T, file string) *scheduling.Snapshot {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s, err := scheduling.DecodeSnapshot(f)
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return s
}
