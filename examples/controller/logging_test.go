package main

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/drawknife/drawknife/examples/settings"
)

// S1-087, SET-066, SET-156: every record bears the commit, in either form, and goes to every path.
func TestRecords(t *testing.T) {
	file := filepath.Join(t.TempDir(), "log")
	for _, encoding := range []settings.LogEncoding{settings.LogJSON, settings.LogConsole} {
		var out, trouble bytes.Buffer
		log, done, err := newLogger(settings.Process{LogEncoding: encoding, LogOutputPaths: []string{"stdout", "stderr", file}, LogLevel: slog.LevelInfo}, &out, &trouble)
		if err != nil {
			t.Fatal(err)
		}
		log.Debug("not at this level")
		log.With("every", time.Minute).Info("started", "pools", 2, slog.Group("plan", "took", 1500*time.Millisecond))
		done()
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if out.String() != trouble.String() || !strings.HasSuffix(string(text), out.String()) {
			t.Errorf("stdout %q, stderr %q, file %q", &out, &trouble, text)
		}
		if strings.Contains(out.String(), "not at this level") {
			t.Errorf("a record below the level: %s", &out)
		}
		if encoding == settings.LogConsole {
			for _, part := range []string{" commit=unknown", " every=1m0s", " plan.took=1.5s"} {
				if !strings.Contains(out.String(), part) {
					t.Errorf("the record lacks %q: %s", part, &out)
				}
			}
			continue
		}
		var record map[string]any
		if err := json.Unmarshal(out.Bytes(), &record); err != nil {
			t.Fatal(err)
		}
		if record["commit"] != "unknown" || record["msg"] != "started" || record["pools"] != 2.0 || record["level"] != "INFO" {
			t.Errorf("record %v", record)
		}
		if took := record["plan"].(map[string]any)["took"]; took != "1.5s" || record["every"] != "1m0s" {
			t.Errorf("durations %v and %v, not as text has them", took, record["every"])
		}
	}
}

func TestLogPathThatCantBeWritten(t *testing.T) {
	if _, _, err := newLogger(settings.Process{LogOutputPaths: []string{t.TempDir()}}, nil, nil); err == nil || !strings.Contains(err.Error(), "log-output-paths") {
		t.Errorf("error %v", err)
	}
}
