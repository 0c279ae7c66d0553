package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/drawknife/drawknife/internal/bench/judge"
	"github.com/drawknife/drawknife/internal/bench/scenario"
)

var update = flag.Bool("update", false, "record the ratios of this run in testdata/recorded.json")

// idleCommand makes the test's program a side that begins and never ends.
const idleCommand = "plan-forever"

func TestMain(m *testing.M) {
	switch {
	case len(os.Args) == 3 && os.Args[1] == planCommand:
		os.Exit(run(context.Background(), os.Args[1:], os.Stdout, os.Stderr))
	case len(os.Args) == 5 && os.Args[1] == consolidateCommand:
		os.Exit(run(context.Background(), os.Args[1:], os.Stdout, os.Stderr))
	case len(os.Args) == 4 && os.Args[1] == "consolidate":
		fmt.Fprintln(os.Stderr, begins)
		fmt.Print("{\"cpuSeconds\":1000,\"steps\":[]}\n{\"cpuSeconds\":2")
		time.Sleep(time.Hour) // is killed at once
		os.Exit(1)
	case len(os.Args) == 3 && os.Args[1] == idleCommand:
		fmt.Fprintln(os.Stderr, begins)
		time.Sleep(time.Hour) // is killed at once
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// record is what a scenario gave when it was recorded. Work is told by what drawknife allocated: unlike seconds that does not
// depend on what else is running.
type record struct {
	Pods      int     `json:"pods"`
	Seed      uint64  `json:"seed"`
	AllocMB   float64 `json:"allocMB"`
	Mallocs   uint64  `json:"mallocs"`
	CostRatio float64 `json:"costRatio"`
}

// moreWork says that a run allocated a quarter more than the record has; "" if not.
func (r record) moreWork(now usage) string {
	const most = 1.25
	switch {
	case now.AllocMB > r.AllocMB*most:
		return fmt.Sprintf("allocated %.1f MB, recorded are %.1f MB: over %g times as much", now.AllocMB, r.AllocMB, most)
	case float64(now.Mallocs) > float64(r.Mallocs)*most:
		return fmt.Sprintf("allocated %d objects, recorded are %d: over %g times as many", now.Mallocs, r.Mallocs, most)
	}
	return ""
}

const recordFile = "testdata/recorded.json"

func recorded(t *testing.T) map[string]record {
	t.Helper()
	data, err := os.ReadFile(recordFile)
	if err != nil {
		t.Fatal(err)
	}
	var records map[string]record
	if err := json.Unmarshal(data, &records); err != nil {
		t.Fatal(err)
	}
	return records
}

// TestSmallSizes runs the small size of every scenario on both sides. A scenario for which drawknife allocates a quarter
// more than recorded fails, as do plans that are more expensive than Karpenter's, that leave out more pods, that a cluster would
// refuse, or that cost less than the bound. CPU times are printed and judged by nobody: they vary with what else is running.
func TestSmallSizes(t *testing.T) {
	ours, err := oursSide()
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	theirs, err := theirsSide(t.Context(), "", folder, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	// The shorter of the two is run more often, since noise weighs more there.
	r := &runner{ours: ours, theirs: theirs, oursRuns: 3, theirsRuns: 1, timeout: time.Minute, folder: folder, progress: io.Discard}
	records := recorded(t)
	for _, w := range smallWorks(t) {
		t.Run(w.name, func(t *testing.T) {
			s, err := w.make()
			if err != nil {
				t.Fatal(err)
			}
			c, err := r.compare(t.Context(), s)
			if err != nil {
				t.Fatal(err)
			}
			t.Log("\n" + c.text())
			if why := c.worse(); why != "" {
				t.Error(why)
			}
			if c.Theirs.CutOff != "" {
				t.Skipf("Karpenter: %s", c.Theirs.CutOff)
			}
			if c.Speedup == nil || c.CostRatio == nil || c.LowerBound == nil {
				t.Fatalf("ratios are missing: %+v", c)
			}
			if *c.LowerBound > *c.Ours.HourlyCost+1e-9 {
				t.Errorf("the bound $%v is above the cost $%v", *c.LowerBound, *c.Ours.HourlyCost)
			}
			if *c.Theirs.Refused == 0 && *c.LowerBound > *c.Theirs.HourlyCost+1e-9 {
				t.Errorf("the bound $%v is above Karpenter's cost $%v", *c.LowerBound, *c.Theirs.HourlyCost)
			}
			if *update {
				records[w.name] = record{c.Pods, c.Seed, round(*c.Ours.AllocMB, 1), *c.Ours.Mallocs, round(*c.CostRatio, 4)}
				return
			}
			was, known := records[w.name]
			if !known || was.Pods != c.Pods || was.Seed != c.Seed {
				t.Fatalf("%s says %+v of it: record it with -update", recordFile, was)
			}
			if why := was.moreWork(usage{AllocMB: *c.Ours.AllocMB, Mallocs: *c.Ours.Mallocs}); why != "" {
				t.Error(why)
			}
		})
	}
	keep(t, records)
}

// keep writes the records if that is asked for.
func keep(t *testing.T, records map[string]record) {
	t.Helper()
	if !*update {
		return
	}
	data, err := json.MarshalIndent(records, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(recordFile, append(data, '\n'), 0o644); err != nil {
		t.Fatal(err)
	}
}

// smallWorks are the small sizes of all scenarios; h, of which 500 pods are enough, where its files are.
func smallWorks(t *testing.T) []work {
	o, err := parseOptions([]string{"--small"}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	works, err := o.works()
	if err != nil {
		t.Fatal(err)
	}
	objects, found := scenario.OpenB(os.Getenv("DRAWKNIFE_DATA"))
	if !found {
		t.Log("scenario h is left out: DRAWKNIFE_DATA does not name a folder with openb/pods.csv, openb/nodepool.yaml and ec2-catalog.json")
		return works
	}
	return append(works, work{"h", func() (*scenario.Scenario, error) { return scenario.FromObjects(objects, 500) }, false})
}

func round(x float64, digits int) float64 {
	var y float64
	fmt.Sscanf(fmt.Sprintf("%.*f", digits, x), "%g", &y)
	return y
}

// Two runs of a scenario are the same plan: nothing depends on the process.
func TestRunsAgree(t *testing.T) {
	ours, err := oursSide()
	if err != nil {
		t.Fatal(err)
	}
	s, err := scenario.Generated("c", 100, 7)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "workload.json")
	if err := save(file, s); err != nil {
		t.Fatal(err)
	}
	var plans [2]string
	for i := range plans {
		r, err := ours.once(t.Context(), file, time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		data, err := json.Marshal(r.Plan)
		if err != nil {
			t.Fatal(err)
		}
		plans[i] = string(data)
		if r.WallSeconds <= 0 || r.CPUSeconds <= 0 || r.AllocMB <= 0 || r.Mallocs == 0 || r.PeakMB <= 0 {
			t.Errorf("took %+v", r.usage)
		}
		if v := judge.New(s.Snapshot).Check(&r.Plan); len(v.Refusals) > 0 || v.Unschedulable > 0 {
			t.Errorf("%+v", v)
		}
	}
	if plans[0] != plans[1] {
		t.Error("two runs give two plans")
	}
}

// A side that plans for too long is cut off: it is said so, and no number is given, neither its own nor a ratio.
func TestCutOff(t *testing.T) {
	ours, err := oursSide()
	if err != nil {
		t.Fatal(err)
	}
	idle := &side{name: "Karpenter", version: "v0", command: []string{ours.command[0], idleCommand}}
	s, err := scenario.Generated("a", 10, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name         string
		ours, theirs *side
	}{{"theirs", ours, idle}, {"ours", idle, ours}} {
		t.Run(c.name, func(t *testing.T) {
			// The time-out is for the side that never ends; the other has no need of it.
			r := &runner{ours: c.ours, theirs: c.theirs, oursRuns: 1, theirsRuns: 1, timeout: 3 * time.Second, folder: t.TempDir(), progress: io.Discard}
			made, err := r.compare(t.Context(), s)
			if err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			if err := show(&out, made, "json"); err != nil {
				t.Fatal(err)
			}
			var printed map[string]any
			if err := json.Unmarshal(out.Bytes(), &printed); err != nil {
				t.Fatal(err)
			}
			cut := printed[c.name].(map[string]any)
			if cut["cutOff"] != "stopped after 3s of planning" {
				t.Errorf("cutOff is %v", cut["cutOff"])
			}
			delete(cut, "cutOff")
			for field, value := range cut {
				if value != nil {
					t.Errorf("%s is %v", field, value)
				}
			}
			for _, field := range []string{"speedup", "costRatio", "allocRatio", "peakRatio"} {
				if value, there := printed[field]; value != nil || !there {
					t.Errorf("%s is %v", field, value)
				}
			}
			if !strings.Contains(made.text(), "stopped after 3s of planning") || !strings.Contains(table([]*comparison{made}, nil, time.Time{}), "stopped after 3s of planning") {
				t.Error("text or table don't say it")
			}
			if worse := made.worse(); (worse != "") != (c.name == "ours") {
				t.Errorf("judged as %q", worse)
			}
		})
	}
}

// The fields are part of the contract.
func TestFields(t *testing.T) {
	number, count, mallocs := 1.0, 2, uint64(3)
	o := outcome{"", &number, &number, &number, &mallocs, &number, &count, &count, &number, &count, nil}
	data, err := json.Marshal(comparison{Ours: o, Theirs: o})
	if err != nil {
		t.Fatal(err)
	}
	var printed map[string]any
	if err := json.Unmarshal(data, &printed); err != nil {
		t.Fatal(err)
	}
	for _, field := range []string{"scenario", "pods", "ours", "theirs", "lowerBound", "speedup", "costRatio"} {
		if _, there := printed[field]; !there {
			t.Errorf("no field %s", field)
		}
	}
	want := []string{"allocMB", "cpuSeconds", "hourlyCost", "mallocs", "nodes", "peakMB", "refused", "unschedulable", "wallSeconds"}
	for _, side := range []string{"ours", "theirs"} {
		if got := slices.Sorted(maps.Keys(printed[side].(map[string]any))); !slices.Equal(got, want) {
			t.Errorf("%s has %v, want %v", side, got, want)
		}
	}
}

func TestRatios(t *testing.T) {
	plan := func(cost float64, unschedulable, refused int) outcome {
		seconds := 1.0
		o := outcome{CPUSeconds: &seconds, AllocMB: &seconds, PeakMB: &seconds, HourlyCost: &cost, Unschedulable: &unschedulable, Refused: &refused}
		if refused > 0 {
			o.Refusals = []string{"why"}
		}
		return o
	}
	for _, c := range []struct {
		name         string
		ours, theirs outcome
		ratio        float64 // 0: none
		worse        string
	}{
		{"cheaper", plan(1, 0, 0), plan(2, 0, 0), 0.5, ""},
		{"equal", plan(2, 0, 0), plan(2, 0, 0), 1, ""},
		{"both for nothing", plan(0, 0, 0), plan(0, 0, 0), 1, ""},
		{"more expensive", plan(3, 0, 0), plan(2, 0, 0), 1.5, "costs $3.0000/h"},
		{"more expensive than nothing", plan(3, 0, 0), plan(0, 0, 0), 0, "costs $3.0000/h"},
		{"fewer pods left out", plan(3, 0, 0), plan(2, 1, 0), 0, ""},
		{"more pods left out", plan(1, 1, 0), plan(2, 0, 0), 0, "leaves out 1 pods"},
		{"refused", plan(1, 0, 1), plan(2, 0, 0), 0.5, "are refused: why"},
		{"theirs refused", plan(1, 0, 0), plan(2, 0, 1), 0.5, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := scenario.Generated("a", 1, 1)
			if err != nil {
				t.Fatal(err)
			}
			made := &comparison{Ours: c.ours, Theirs: c.theirs}
			made.relate(judge.New(s.Snapshot), &result{}, &result{})
			if made.CostRatio == nil && c.ratio != 0 || made.CostRatio != nil && *made.CostRatio != c.ratio {
				t.Errorf("ratio %v, want %v", made.CostRatio, c.ratio)
			}
			if why := made.worse(); !strings.Contains(why, c.worse) || (why == "") != (c.worse == "") {
				t.Errorf("worse is %q, want %q", why, c.worse)
			}
		})
	}
}

// Both programs measure by the same code.
func TestMeasuresAreTheSame(t *testing.T) {
	ours, err := os.ReadFile("measure.go")
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := os.ReadFile(filepath.Join("..", "karpenter", "measure.go"))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(ours, theirs) {
		t.Error("measure.go is not the same in compare and in karpenter")
	}
}

func TestMeasure(t *testing.T) {
	var kept [][]byte
	took, err := measure(func() error {
		for range 100 {
			kept = append(kept, make([]byte, 1_000_000))
		}
		for i := range kept {
			for k := range kept[i] {
				kept[i][k] = byte(k)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if took.AllocMB < 100 || took.AllocMB > 110 || took.Mallocs < 100 || took.PeakMB < 100 || took.CPUSeconds <= 0 || took.WallSeconds <= 0 {
		t.Errorf("%d MB took %+v", len(kept), took)
	}
}

func TestOptions(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"", ""},
		{"--scenario b --pods 10 --seed 3 --timeout 1s --runs 2 -o json", ""},
		{"-o xml", "give text or json"},
		{"--timeout 0s", "must be positive"},
		{"--runs 0", "at least 1"},
		{"--pods -1", "not be negative"},
		{"b", "arguments are not accepted, only flags"},
		{"--scenario b --pods-file x", "only with --scenario h or all"},
		{"--catalog x", "needs --pods-file"},
		{"--surprise", "not defined"},
		{"--scenario consolidate-60 --spot-to-spot=false", ""},
		{"--scenario consolidate-60 --pods 10", "the number in the scenario's name is the number of nodes"},
	} {
		_, err := parseOptions(strings.Fields(c.args), io.Discard)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.args, err, c.want)
		}
	}
}

func TestWorks(t *testing.T) {
	t.Setenv("DRAWKNIFE_DATA", "")
	file := filepath.Join(t.TempDir(), "mine.yaml")
	for _, c := range []struct{ args, want string }{
		{"", "a b c d e f g"},
		{"--pods-file x.json", "a b c d e f g h"},
		{"--pods-file x.json --small", "a b c d e f g"},
		{"--scenario B", "b"},
		{"--scenario h --pods-file x.json", "h"},
		{"--scenario h", "needs --pods-file"},
		{"--scenario x", "choose one of a to h"},
		{"--scenario " + file, "mine"},
		{"--scenario consolidate", "consolidate-500 consolidate-mixed-500 consolidate-2000 consolidate-mixed-2000"},
		{"--scenario consolidate --small", "consolidate-60 consolidate-mixed-30 consolidate-m5-both-3z-1-20n"},
		{"--scenario consolidate-m5-both-3z-4-20n", "consolidate-m5-both-3z-4-20n"},
		{"--scenario consolidate-mixed-7", "consolidate-mixed-7"},
		{"--scenario consolidate-ordinary-9 --seed 2", "consolidate-m5-none-3z-2-9n consolidate-m5-none-6z-2-9n consolidate-m5-both-3z-2-9n " +
			"consolidate-m5-both-6z-2-9n consolidate-m5+c5+r5-none-3z-2-9n consolidate-m5+c5+r5-none-6z-2-9n consolidate-m5+c5+r5-both-3z-2-9n " +
			"consolidate-m5+c5+r5-both-6z-2-9n"},
		{"--scenario consolidate-x", "choose one of a to h"},
		{"--scenario m5-both-3z-4-20p", "m5-both-3z-4-20p"},
		{"--scenario fa-10", "fa-10"},
		{"--scenario fa-10 --pods 3", "--pods does not apply to"},
	} {
		o, err := parseOptions(strings.Fields(c.args), io.Discard)
		if err != nil {
			t.Fatal(err)
		}
		works, err := o.works()
		if err != nil {
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v, want %q", c.args, err, c.want)
			}
			continue
		}
		var names []string
		for _, w := range works {
			names = append(names, w.name)
		}
		if got := strings.Join(names, " "); got != c.want {
			t.Errorf("%s: %s, want %s", c.args, got, c.want)
		}
	}
}

func TestTable(t *testing.T) {
	at := fleetMarkers
	document := "before\n" + at.begins + "\nold\n" + at.ends + "\nafter\n"
	got, err := at.replace(document, "new\n")
	if want := "before\n" + at.begins + "\nnew\n" + at.ends + "\nafter\n"; err != nil || got != want {
		t.Errorf("%q, %v", got, err)
	}
	for _, without := range []string{"", at.begins + "\n", at.ends, planMarkers.begins + "\n" + planMarkers.ends} {
		if _, err := at.replace(without, ""); err == nil {
			t.Errorf("%q has no place for a table, but is taken", without)
		}
	}
	seconds, megabytes, nodes, none, cost, bound := 0.5, 12.0, 3, 0, 10.0, 8.0
	fast := 0.05
	c := &comparison{
		Scenario: "b", Pods: 10_000, LowerBound: &bound, Speedup: ratio(seconds, fast), CostRatio: ratio(cost, cost), Karpenter: "v1.14.1 go1.26.8",
		Ours:   outcome{CPUSeconds: &fast, AllocMB: &megabytes, PeakMB: &megabytes, Nodes: &nodes, Unschedulable: &none, HourlyCost: &cost, Refused: &none},
		Theirs: outcome{CPUSeconds: &seconds, AllocMB: &megabytes, PeakMB: &megabytes, Nodes: &nodes, Unschedulable: &none, HourlyCost: &cost, Refused: &none},
	}
	text := table([]*comparison{c}, []string{"--table", "/somewhere/else/benchmarks.md"}, time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC))
	for _, want := range []string{
		"2026-01-02, ", "Karpenter v1.14.1. `go run ./compare --table benchmarks.md`",
		"| b | 10,000 | 50.0 ms | 500.0 ms | 10x | 12.0 MB | 12.0 MB | 12.0 MB | 12.0 MB |",
		"| b | 3 | 3 | 0 | 0 | 10.000 | 10.000 | 1.0000 | 8.00 | 1.250 | 1.250 | 0 | 0 |",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

func TestGrouped(t *testing.T) {
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567", -123: "-123", -1234: "-1,234"} {
		if got := grouped(n); got != want {
			t.Errorf("%d is %q, want %q", n, got, want)
		}
	}
}

// The program as a user calls it, but for Karpenter's side, which is drawknife's again: a scenario file, JSON.
func TestRun(t *testing.T) {
	folder := t.TempDir()
	file := filepath.Join(folder, "two.yaml")
	if err := os.WriteFile(file, []byte("deployments: [{name: a, count: 2, requests: {cpu: 1}}]"), 0o600); err != nil {
		t.Fatal(err)
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	// A shell script that answers like the program of internal/bench/karpenter.
	script := filepath.Join(folder, "karpenter")
	text := "#!/bin/sh\nif [ \"$1\" = version ]; then echo v0 go0; else exec '" + program + "' " + planCommand + " \"$1\"; fi\n"
	if err := os.WriteFile(script, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	var stdout, stderr bytes.Buffer
	if status := run(t.Context(), []string{"--scenario", file, "--karpenter", script, "-o", "json"}, &stdout, &stderr); status != exitMade {
		t.Fatalf("status %d: %s", status, stderr.String())
	}
	var c comparison
	if err := json.Unmarshal(stdout.Bytes(), &c); err != nil {
		t.Fatal(err)
	}
	if c.Scenario != "two" || c.Pods != 2 || *c.CostRatio != 1 || c.Karpenter != "v0 go0" {
		t.Errorf("%s", stdout.String())
	}
	for _, args := range [][]string{{"--scenario", "x"}, {"-o", "x"}, {"--scenario", file, "--karpenter", file + "x"}, {planCommand, file + "x"}} {
		if status := run(t.Context(), args, io.Discard, &stderr); status != exitError {
			t.Errorf("%v: status %d", args, status)
		}
	}
	if status := run(t.Context(), []string{"--help"}, io.Discard, &stderr); status != exitMade {
		t.Errorf("--help: status %d", status)
	}
}

// A side that fails is an error with what it said.
func TestSideThatFails(t *testing.T) {
	ours, err := oursSide()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ours.once(t.Context(), filepath.Join(t.TempDir(), "none.json"), time.Minute); err == nil || !strings.Contains(err.Error(), "none.json") {
		t.Errorf("%v", err)
	}
}
