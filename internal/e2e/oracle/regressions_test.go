package oracle_test

import (
	"bytes"
	"encoding/json"
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
			s, q := readSnapshot(t, file)
			_, refused, err := judge(s, q)
			if err != nil {
				t.Fatal(err)
			}
			for _, line := range refused {
				t.Error(line)
			}
		})
	}
}

// queryMark begins the line of a saved snapshot that says what was asked of it; without one it is the zero query.
const queryMark = "# query: "

func readSnapshot(t *testing.T, file string) (*scheduling.Snapshot, scheduling.Query) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var q scheduling.Query
	for line := range strings.Lines(string(text)) {
		if query, ok := strings.CutPrefix(line, queryMark); ok {
			if err := json.Unmarshal([]byte(query), &q); err != nil {
				t.Fatalf("%s: %v", file, err)
			}
		}
	}
	s, err := scheduling.DecodeSnapshot(bytes.NewReader(text))
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return s, q
}
