package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestReplayTrace(t *testing.T) {
	page := filepath.Join(t.TempDir(), "page.html")
	d := both[replayDocument](t, "replay", exitPlaced, func(d *replayDocument) { d.Series, d.Packing = d.Series[:3], d.Packing[:1] },
		"testdata/fleet/cluster.yaml", "--catalog", smallCatalog, "--now", "2026-05-04T10:00:00Z",
		"--replay", "testdata/trace.csv", "--replay-for", "6h", "--spot-interruptions", "0", "--html", page)
	if d.Pods != 26 || d.Unplaced != 0 || d.Cost <= 0 || d.PendingSeconds["max"] <= 0 || len(d.Series) < 300 {
		t.Errorf("%d pods, %d unplaced, $%v, %v, %d points", d.Pods, d.Unplaced, d.Cost, d.PendingSeconds, len(d.Series))
	}
	text, err := os.ReadFile(page)
	if err != nil || !strings.Contains(string(text), "drawknife replay of trace.csv") {
		t.Errorf("the page: %v", err)
	}
	for _, c := range []struct {
		says string
		args []string
	}{
		{"no such file", []string{"--replay", "testdata/none.csv"}},
		{"no column", []string{"--replay", "testdata/deployment.yaml"}},
		{"goes with --replay", []string{"--html", "x"}},
		{"one at a time", []string{"--replay", "x", "--consolidate"}},
		{"negative", []string{"--replay", "x", "--replay-for", "-1h"}},
	} {
		if a := simulate(t, "", append(c.args, "--catalog", smallCatalog)...); a.code != exitInput || !strings.Contains(a.stderr, c.says) {
			t.Errorf("%v: %d, %s", c.args, a.code, a.stderr)
		}
	}
}
