package main

import (
	"bytes"
	"context"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/drawknife/drawknife/commands/simulate"
	"github.com/drawknife/drawknife/scheduling/dra"
)

var update = flag.Bool("update", false, "write the golden files")

// Plans of the examples are those of the golden files.
func TestExamples(t *testing.T) {
	for _, c := range []struct {
		name string
		args []string
		code int
	}{
		{"inference", []string{"--device-drivers", "nvidia=gpu.nvidia.com", "testdata/inference"}, 2},
		{"mig", []string{"--device-drivers", "nvidia=gpu.nvidia.com", "--nvidia-mig", "testdata/mig"}, 0},
		{"shared", []string{"--device-drivers", "nvidia=gpu.nvidia.com", "--nvidia-shares", "4", "testdata/shared"}, 0},
		{"buffer", []string{"--device-drivers", "nvidia=gpu.nvidia.com", "testdata/buffer"}, 0},
		// A pod moves with its claim to the cheapest node with a device for it; where there is none the node stays, and says for which pod.
		{"moves", []string{"--device-drivers", "nvidia=gpu.nvidia.com", "--consolidate", "testdata/fleet"}, 0},
		{"stays", []string{"--device-drivers", "nvidia=gpu.nvidia.com", "--consolidate", "testdata/fleet/cluster.yaml", "testdata/l4only.yaml"}, 0},
		// Pods of a trace have devices while they are on a node: five that come hourly share a node's, those of a shared claim one GPU.
		{"replay", []string{"--device-drivers", "nvidia=gpu.nvidia.com", "testdata/trace", "--replay", "testdata/trace/trace.csv", "--spot-interruptions", "0"}, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			args := append(c.args, "--now", "2026-05-04T10:00:00Z")
			code := simulate.Run(context.Background(), args, strings.NewReader(""), &stdout, &stderr, simulate.Options{DeviceMatcher: dra.New()})
			if code != c.code {
				t.Errorf("exit status %d, want %d", code, c.code)
			}
			compare(t, c.name+".txt", "$ simulate "+strings.Join(args, " ")+"\n"+stderr.String()+stdout.String())
		})
	}
}

// The commands of docs/devices.md run, and print what the page shows.
func TestPage(t *testing.T) {
	t.Chdir("../../..")
	text, err := os.ReadFile("docs/devices.md")
	if err != nil {
		t.Fatal(err)
	}
	ran := 0
	for line := range strings.Lines(string(text)) {
		args, ok := strings.CutPrefix(line, "./simulate-dra ")
		if !ok {
			continue
		}
		ran++
		var stdout, stderr bytes.Buffer
		code := simulate.Run(context.Background(), strings.Fields(args), strings.NewReader(""), &stdout, &stderr, simulate.Options{DeviceMatcher: dra.New()})
		if code != 0 && code != 2 {
			t.Errorf("%s: exit status %d\n%s", line, code, &stderr)
		}
		if _, shown, ok := strings.Cut(string(text), "$ "+strings.TrimSpace(line)+"\n"); ok {
			shown, _, _ = strings.Cut(shown, "```")
			if diff := cmp.Diff(shown, durations.ReplaceAllString(stdout.String(), "…")); diff != "" {
				t.Errorf("%s prints other than the page shows (-page +printed):\n%s", line, diff)
			}
		}
	}
	if ran == 0 {
		t.Error("the page has no command")
	}
}

var durations = regexp.MustCompile(`(Compiled|Planned|Replayed) in .*`)

// compare holds what was printed, less times, to a golden file.
func compare(t *testing.T, name, got string) {
	t.Helper()
	got = durations.ReplaceAllString(got, "$1 in N ms.")
	path := filepath.Join("testdata", "golden", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("other than %s (-want +got), -update writes it:\n%s", path, diff)
	}
}

// A saved snapshot has classes, templates and claims, the devices of instance types, and nodes with what they have published: planned again it gives the same.
func TestSavedSnapshots(t *testing.T) {
	for _, args := range [][]string{
		{"--device-drivers", "nvidia=gpu.nvidia.com", "testdata/inference"},
		{"--device-drivers", "nvidia=gpu.nvidia.com", "--nvidia-mig", "testdata/mig"},
		{"--device-drivers", "nvidia=gpu.nvidia.com", "--consolidate", "testdata/fleet"},
	} {
		saved := filepath.Join(t.TempDir(), "snapshot.yaml")
		run := func(args ...string) string {
			var stdout, stderr bytes.Buffer
			if code := simulate.Run(context.Background(), args, strings.NewReader(""), &stdout, &stderr, simulate.Options{DeviceMatcher: dra.New()}); code != 0 && code != 2 {
				t.Fatalf("%v: exit status %d\n%s", args, code, &stderr)
			}
			return durations.ReplaceAllString(stdout.String(), "$1")
		}
		first := run(append(args, "--now", "2026-05-04T10:00:00Z", "--save-snapshot", saved)...)
		again := []string{"--snapshot", saved}
		if slices.Contains(args, "--consolidate") {
			again = append(again, "--consolidate")
		}
		if diff := cmp.Diff(first, run(again...)); diff != "" {
			t.Errorf("%v: planned from the saved snapshot (-first +again):\n%s", args, diff)
		}
	}
}
