package sweep_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/drawknife/drawknife/commands"
	"github.com/drawknife/drawknife/commands/simulate"
	"github.com/drawknife/drawknife/commands/sweep"
)

// childVariable makes the test binary the program of the shards.
const childVariable = "DRAWKNIFE_SWEEP_CHILD"

var update = flag.Bool("update", false, "write the golden files")

func TestMain(m *testing.M) {
	if os.Getenv(childVariable) != "" {
		os.Exit(call(os.Args[1:], os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

// count is a command whose answer depends on its arguments. It kills its process once for each file of --kill-once that does not exist yet.
func count() commands.Command {
	return commands.Command{Name: "count", Begin: func() commands.Run {
		flags := flag.NewFlagSet("count", flag.ContinueOnError)
		factor := flags.Int("factor", 1, "")
		kill := flags.String("kill-once", "", "")
		status := flags.Int("status", 0, "")
		output := flags.String("output", "", "")
		return commands.Run{Flags: flags, Do: func(_ context.Context, arguments []string, streams commands.Streams) int {
			if *kill != "" {
				if file, err := os.OpenFile(*kill, os.O_CREATE|os.O_EXCL, 0o666); err == nil {
					_ = file.Close()
					killSelf()
				}
			}
			if *output != "json" {
				fmt.Fprintln(streams.Err, "the answer must be JSON")
				return 1
			}
			total := 0
			for _, name := range arguments {
				text, err := os.ReadFile(name)
				if err != nil {
					fmt.Fprintln(streams.Err, err)
					return 1
				}
				total += len(text)
			}
			fmt.Fprintf(streams.Out, `{"kind":"Count","summary":{"bytes":%d,"product":%d,"share":0.10,"solveMillis":%d},"list":[1,2]}`, total, total**factor, os.Getpid())
			return *status
		}}
	}}
}

func killSelf() {
	if process, err := os.FindProcess(os.Getpid()); err == nil {
		_ = process.Signal(syscall.SIGKILL)
	}
	select {}
}

// call runs a command below sweep.
func call(args []string, stdout, stderr interface{ Write([]byte) (int, error) }) int {
	all := append(simulate.Commands(simulate.Options{}), count())
	root := sweep.New(sweep.Options{Commands: all, Program: []string{os.Args[0]}})
	for _, c := range root.Commands {
		if c.Name != args[1] {
			continue
		}
		run := c.Begin()
		var rest []string
		for args = args[2:]; len(args) > 0; args = args[1:] {
			if err := run.Flags.Parse(args); err != nil {
				fmt.Fprintln(stderr, err)
				return 1
			}
			if args = run.Flags.Args(); len(args) == 0 {
				break
			}
			rest = append(rest, args[0])
		}
		return run.Do(context.Background(), rest, commands.Streams{In: strings.NewReader(""), Out: stdout, Err: stderr})
	}
	fmt.Fprintln(stderr, "no such command")
	return 1
}

type answer struct {
	status         int
	stdout, stderr string
}

func drawknife(t *testing.T, args ...string) answer {
	t.Helper()
	var stdout, stderr bytes.Buffer
	status := call(append([]string{"sweep"}, args...), &stdout, &stderr)
	return answer{status, stdout.String(), stderr.String()}
}

// folder makes a new folder with these files the current one.
func folder(t *testing.T, files map[string]string) {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, text := range files {
		write(t, name, text)
	}
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

const countGrid = `apiVersion: drawknife.dev/v1
kind: Sweep
command: count
axes:
- name: file
  values:
  - {name: small, arguments: [a.txt]}
  - {name: both, arguments: [a.txt, b.txt]}
  - {name: missing, arguments: [c.txt]}
- name: factor
  values:
  - {name: one}
  - {name: ten, arguments: [--factor=10, --status=2, --output=text, --]}
figures: [summary.bytes, summary.product, summary.share, summary.other]
`

// Cells that have a result do not run again, unless a file that they read has changed; a part of a result is none.
func TestSweepIsResumed(t *testing.T) {
	folder(t, map[string]string{"grid.yaml": countGrid, "a.txt": "aaa", "b.txt": "bb"})
	if got := drawknife(t, "reduce", "grid.yaml"); got.status != 1 || !strings.Contains(got.stderr, "6 of 6 cells have no result") || !strings.Contains(got.stderr, "cell 0 (file=small, factor=one)") {
		t.Errorf("without results: %+v", got)
	}
	first := drawknife(t, "shard", "grid.yaml", "--shards=2", "--index=0")
	if first.status != 0 || !strings.Contains(first.stderr, "shard 0 of 2: 3 cells run, 0 had their result") || !strings.Contains(first.stderr, "count has no answer: open c.txt") {
		t.Errorf("first shard: %+v", first)
	}
	t.Setenv("JOB_COMPLETION_INDEX", "1")
	if got := drawknife(t, "shard", "grid.yaml", "--shards=2"); got.status != 0 || !strings.Contains(got.stderr, "shard 1 of 2: 3 cells run") {
		t.Errorf("second shard, by the index of its pod: %+v", got)
	}
	whole := drawknife(t, "reduce", "grid.yaml")
	want := `6 cells of count

file     factor  bytes  product  share  other
small    one     3      3        0.10   -
small    ten     3      30       0.10   -
both     one     5      5        0.10   -
both     ten     5      50       0.10   -
missing  one     -      -        -      -
missing  ten     -      -        -      -

Means of the cells with an answer

axis    value    cells  bytes  product  share  other
file    small    2      3      16.5     0.1    -
file    both     2      5      27.5     0.1    -
file    missing  0      -      -        -      -
factor  one      2      4      4        0.1    -
factor  ten      2      4      40       0.1    -

2 cells have no answer

- missing, one (exit status 1): open c.txt: no such file or directory
- missing, ten (exit status 1): open c.txt: no such file or directory
`
	if diff := cmp.Diff(want, whole.stdout); diff != "" || whole.status != 2 || whole.stderr != "" {
		t.Errorf("report, status %d, %s (-want +got):\n%s", whole.status, whole.stderr, diff)
	}

	if got := drawknife(t, "shard", "grid.yaml", "--shards=1", "--index=0"); !strings.Contains(got.stderr, "0 cells run, 6 had their result") {
		t.Errorf("again: %+v", got)
	}
	write(t, "b.txt", "bbbb")
	if got := drawknife(t, "shard", "grid.yaml", "--shards=1", "--index=0"); !strings.Contains(got.stderr, "2 cells run, 4 had their result") {
		t.Errorf("with another b.txt: %+v", got)
	}
	name := filepath.Join("sweep-results", "cells", "000001.json")
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{string(text[:len(text)/2]), "", "{}"} {
		write(t, name, part)
		if got := drawknife(t, "shard", "grid.yaml", "--shards=1", "--index=0"); !strings.Contains(got.stderr, "1 cells run, 5 had their result") {
			t.Errorf("after a part of a result, %q: %+v", part, got)
		}
	}
}

// The report is the same, byte for byte, for one process and for many of which some are killed.
func TestKilledShardsChangeNothing(t *testing.T) {
	shards, killed := 200, 20
	if testing.Short() {
		shards, killed = 24, 5
	}
	var values strings.Builder
	for i := range shards {
		fmt.Fprintf(&values, "  - {name: v%d, arguments: [--factor=%d", i, i)
		if i%(shards/killed) == 0 && i/(shards/killed) < killed {
			fmt.Fprintf(&values, ", --kill-once=killed-%d", i)
		}
		values.WriteString("]}\n")
	}
	folder(t, map[string]string{"a.txt": "aaa", "b.txt": "bb", "grid.yaml": "apiVersion: drawknife.dev/v1\nkind: Sweep\ncommand: count\naxes:\n" +
		"- name: file\n  values: [{name: a, arguments: [a.txt]}, {name: b, arguments: [b.txt]}]\n- name: factor\n  values:\n" + values.String() + "figures: [summary.product]\n"})
	t.Setenv(childVariable, "1")
	many := drawknife(t, "run", "grid.yaml", "--shards="+strconv.Itoa(shards), "--parallel=4", "--output=json", "--results=many")
	if many.status != 0 {
		t.Fatalf("%+v", many)
	}
	if got := strings.Count(many.stderr, "signal: killed: starting it again"); got != killed {
		t.Errorf("%d shards were started again, want %d: %s", got, killed, many.stderr)
	}
	one := drawknife(t, "run", "grid.yaml", "--shards=1", "--output=json", "--results=one") // the files of --kill-once are there now
	if diff := cmp.Diff(one.stdout, many.stdout); diff != "" || one.status != 0 {
		t.Errorf("one process (-) and many (+), %d:\n%s", one.status, diff)
	}
	var read struct {
		Cells []struct{ Figures []json.Number }
	}
	if err := json.Unmarshal([]byte(one.stdout), &read); err != nil || len(read.Cells) != 2*shards {
		t.Errorf("%d cells, %v", len(read.Cells), err)
	}
}

// A shard that always fails is given up, and the others run on.
func TestShardIsGivenUp(t *testing.T) {
	folder(t, map[string]string{"a.txt": "aaa", "grid.yaml": strings.Replace(countGrid, "--status=2", "--status=4", 1)})
	t.Setenv(childVariable, "1")
	got := drawknife(t, "run", "grid.yaml", "--shards=2", "--retries=1")
	if got.status != 4 || strings.Count(got.stderr, "starting it again") != 1 || !strings.Contains(got.stderr, "drawknife sweep run: shard 1: exit status 4") ||
		!strings.Contains(got.stderr, "shard 0 of 2: 3 cells run") || !strings.Contains(got.stderr, "cell 1 (file=small, factor=ten): count ended with exit status 4") {
		t.Errorf("%+v", got)
	}
}

// The real commands, in all forms of output.
func TestPlansOfAGrid(t *testing.T) {
	folder(t, map[string]string{"grid.yaml": `apiVersion: drawknife.dev/v1
kind: Sweep
command: plan
arguments: [--now=2026-01-01T00:00:00Z]
axes:
- name: zones
  values:
  - {name: all}
  - {name: one, arguments: [--zones, us-east-1a]}
- name: reserved
  values:
  - {name: fallback}
  - {name: mistake, arguments: [--reserved=often]}
`})
	if got := drawknife(t, "shard", "grid.yaml", "--index=0"); got.status != 0 {
		t.Fatalf("%+v", got)
	}
	for _, form := range []string{"text", "json", "yaml", "markdown", "csv"} {
		got := drawknife(t, "reduce", "grid.yaml", "-o="+form)
		if got.status != 2 || got.stderr != "" {
			t.Errorf("%s: %d %s", form, got.status, got.stderr)
		}
		golden(t, "report."+form, got.stdout)
	}
}

func TestManifest(t *testing.T) {
	folder(t, map[string]string{"grid.yaml": countGrid})
	got := drawknife(t, "manifest", "grid.yaml", "--shards=4", "--image=registry.example.com/drawknife:1", "--claim=sweep", "--namespace=batch")
	if got.status != 0 {
		t.Fatalf("%+v", got)
	}
	golden(t, "job.yaml", got.stdout)
}

func TestUsage(t *testing.T) {
	folder(t, map[string]string{"grid.yaml": countGrid, "other.yaml": strings.Replace(countGrid, "count", "explain-all", 1)})
	absolute, err := filepath.Abs("grid.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args, want string
	}{
		{"run", "needs one argument"},
		{"run none.yaml", "none.yaml: no such file"},
		{"run other.yaml", `other.yaml: command: must be one of ["plan" "consolidate" "diff" "drain" "explain" "replay" "count"], not "explain-all"`},
		{"run grid.yaml --parallel=0", "--parallel 0: must be at least 1"},
		{"run grid.yaml --shards=-1", "--shards -1: must be from 1 to 100000"},
		{"run grid.yaml --retries=-1", "--retries -1: must be from 0 to 1000"},
		{"reduce grid.yaml --output=html", `--output "html": not one of text, json, yaml, markdown, csv`},
		{"shard grid.yaml --shards=2 --index=2", "--index 2: must be from 0 to 1, as there are 2 shards"},
		{"shard grid.yaml --shards=2", `--index is missing, and JOB_COMPLETION_INDEX="" is no number`},
		{"manifest grid.yaml --claim=c", "--image must name an image"},
		{"manifest grid.yaml --image=i", `--claim "": must be the name of a PersistentVolumeClaim`},
		{"manifest grid.yaml --image=i --claim=c --name=A_b", `--name "A_b":`},
		{"manifest grid.yaml --image=i --claim=c --memory=much", `--memory "much": must be a quantity above 0`},
		{"manifest " + absolute + " --image=i --claim=c", "must be a relative name"},
		{"manifest grid.yaml --results=../r --image=i --claim=c", `--results "../r": must be a relative name`},
	} {
		got := drawknife(t, strings.Fields(c.args)...)
		if got.status != 1 || !strings.Contains(got.stderr, c.want) || got.stdout != "" {
			t.Errorf("%s: %+v, want %q", c.args, got, c.want)
		}
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join(source, "testdata", name)
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

// source is the folder of the package: tests change the current folder.
var source = func() string {
	dir, err := os.Getwd()
	if err != nil {
		panic(err)
	}
	return dir
}()
