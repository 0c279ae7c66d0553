package main

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/drawknife/drawknife/internal/bench/scenario"
)

func recorded(t *testing.T) records {
	t.Helper()
	r, err := readRecords()
	if err != nil {
		t.Fatal(err)
	}
	r.settle()
	return r
}

// TestCorpus is the small form of the corpus. No plan costs more than Karpenter's, as it was recorded, or more than 1.02 times
// the best packing known; none is refused or under a bound that was proven.
func TestCorpus(t *testing.T) {
	known := recorded(t)
	p := &planner{runs: 1, check: true, records: known}
	for _, name := range smallNames() {
		t.Run(name, func(t *testing.T) {
			if r := known[name]; r == nil || r.Karpenter == nil || r.Best == 0 {
				t.Fatalf("recorded.json lacks Karpenter's cost or the best packing. Run: go run ./corpus --scenarios %s --karpenter run --record", name)
			}
			before := *known[name] // what was known before this run counts
			best := before.Best
			r, err := p.plan(t.Context(), name)
			if err != nil {
				t.Fatal(err)
			}
			r.BestCost, r.OverBest = best, quotient(r.Cost, best)
			if why := r.worse(); why != "" {
				t.Error(why)
			}
			if r.Unschedulable > before.Karpenter.Unschedulable {
				t.Errorf("%d pods have no place, Karpenter leaves %d out", r.Unschedulable, before.Karpenter.Unschedulable)
			}
			if r.Cost < before.ProvenBound*(1-1e-6) && r.Unschedulable == 0 {
				t.Errorf("costs $%v/h, less than the bound $%v/h (%s)", r.Cost, before.ProvenBound, before.ProvenBy)
			}
			if r.Bound > best*(1+1e-6) {
				t.Errorf("its bound $%v/h is above the best packing known, $%v/h (%s)", r.Bound, best, before.BestBy)
			}
		})
	}
}

// What is recorded does not contradict itself.
func TestRecords(t *testing.T) {
	known := recorded(t)
	if len(known) < len(smallNames()) {
		t.Errorf("only %d scenarios are recorded", len(known))
	}
	for _, name := range known.names() {
		r := known[name]
		if r.Pods == 0 {
			t.Errorf("%s: no pods", name)
		}
		if r.Best > 0 && (r.BestBy == "" || r.ProvenBound > r.Best*(1+1e-4)) {
			t.Errorf("%s: the bound $%v/h (%s) is above the best packing $%v/h (%q)", name, r.ProvenBound, r.ProvenBy, r.Best, r.BestBy)
		}
		if k := r.Karpenter; k != nil && k.whole() && k.Cost > 0 && r.Best > k.Cost*(1+1e-4) {
			t.Errorf("%s: the best packing known costs $%v/h, Karpenter's $%v/h", name, r.Best, k.Cost)
		}
	}
}

func TestLooser(t *testing.T) {
	for _, c := range []struct {
		loose, strict string
		want          bool
	}{
		{"m5-none-3z-1", "m5-both-6z-1", true}, {"m5-anti-3z-1", "m5-both-6z-1", true}, {"m5-spread-6z-1", "m5-both-6z-1", true},
		{"m5-spread-3z-1", "m5-both-6z-1", false}, {"m5-both-3z-1", "m5-anti-3z-1", false}, {"m5-none-3z-2", "m5-anti-3z-1", false},
		{"m5-none-3z-1", "c5-anti-3z-1", false}, {"m5-none-3z-1-50p", "m5-anti-3z-1", false}, {"fa-1000", "f-1000", true},
		{"fa-1000", "f-2000", false}, {"gap-norules", "gap-6zones", true}, {"gap-6zones", "gap-norules", false}, {"a-1000", "b-1000", false},
	} {
		if got := looser(c.loose, c.strict); got != c.want {
			t.Errorf("%s of %s: %v", c.loose, c.strict, got)
		}
	}
	r := records{"m5-none-3z-1": {ProvenBound: 5, ProvenBy: "x"}, "m5-anti-3z-1": {Best: 7, BestBy: "y", ProvenBound: 4}}
	r.settle()
	if none, anti := r["m5-none-3z-1"], r["m5-anti-3z-1"]; none.Best != 7 || anti.ProvenBound != 5 || none.BestBy != "y, for m5-anti-3z-1" || anti.ProvenBy != "x, for m5-none-3z-1" {
		t.Errorf("%+v %+v", none, anti)
	}
}

func TestOptions(t *testing.T) {
	known := records{"m5-none-3z-1": {}, "fa-1000": {}}
	names := func(args ...string) []string {
		o, err := parseOptions(args, known, &bytes.Buffer{})
		if err != nil {
			return []string{err.Error()}
		}
		return o.names
	}
	for args, want := range map[string][]string{
		"--seeds 3 --families m5 --rules none,both":                {"m5-none-3z-3", "m5-both-3z-3", "m5-both-6z-3"},
		"--seeds 1-2,9 --families m5,c5+r5 --rules anti --pods 50": {"m5-anti-3z-1-50p", "m5-anti-3z-2-50p", "m5-anti-3z-9-50p", "c5+r5-anti-3z-1-50p", "c5+r5-anti-3z-2-50p", "c5+r5-anti-3z-9-50p"},
		"--scenarios b,a":    {"b", "a"},
		"--set all":          {"fa-1000", "m5-none-3z-1"},
		"--set named":        {"fa-1000"},
		"--set odd":          {"--set odd: give ordinary, named, all or small"},
		"--seeds 3-1":        {`--seeds 3-1: "3-1" is neither a number nor a range such as 1-20, ascending and of at most 10,001 numbers`},
		"--zones x":          {`--zones x: "x" is neither a number nor a range such as 1-20, ascending and of at most 10,001 numbers`},
		"-o xml":             {"-o xml: give text or json"},
		"--runs -1":          {"--runs must not be negative, and --procs and --karpenter-runs must be at least 1"},
		"--karpenter-runs 0": {"--runs must not be negative, and --procs and --karpenter-runs must be at least 1"},
		"more":               {`"more": there are no arguments, only flags`},
	} {
		if got := names(strings.Fields(args)...); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", args, got, want)
		}
	}
	if n := len(names()); n != 24 {
		t.Errorf("%d ordinary clusters by default", n)
	}
}

// A run prints each scenario with what is known of it; the fields are part of the contract.
func TestRun(t *testing.T) {
	var stdout, stderr bytes.Buffer
	if status := run(context.Background(), []string{"--scenarios", "m5-none-3z-1-40p,one-pod-zone-spread,a-30", "-o", "json", "--runs", "2"}, &stdout, &stderr); status == exitError {
		t.Fatal(stderr.String())
	}
	var rows []map[string]any
	if err := json.Unmarshal(stdout.Bytes(), &rows); err != nil {
		t.Fatal(err)
	}
	if len(rows) != 3 || rows[0]["scenario"] != "m5-none-3z-1-40p" || rows[0]["pods"] != 40.0 || rows[0]["types"] != 8.0 {
		t.Fatalf("%v", rows)
	}
	for _, field := range []string{"cost", "bound", "overBound", "cpuSeconds", "nodes", "greedyCost", "firstFitCost", "overGreedy", "bestCost", "bestBy", "overBest"} {
		if rows[0][field] == nil {
			t.Errorf("no %s in %v", field, rows[0])
		}
	}
	if rows[1]["greedyCost"] != nil {
		t.Errorf("a scenario with rules has a packing without: %v", rows[1])
	}
	stdout.Reset()
	if status := run(context.Background(), []string{"--scenarios", "one-pod-zone-spread", "--runs", "0"}, &stdout, &stderr); status == exitError || !strings.Contains(stdout.String(), "one-pod-zone-spread") {
		t.Errorf("recorded figures: status %d, %s%s", status, &stdout, &stderr)
	}
	if status := run(context.Background(), []string{"--scenarios", "a-31", "--runs", "0"}, &stdout, &stderr); status != exitError {
		t.Errorf("figures that are not recorded are shown: %s", &stdout)
	}
	stdout.Reset()
	if status := run(context.Background(), []string{"--scenarios", "a-30"}, &stdout, &stderr); status != exitGood || !strings.Contains(stdout.String(), "ours / own bound: mean") {
		t.Errorf("status %d, %s%s", status, &stdout, &stderr)
	}
	for _, args := range []string{"--scenarios x", "--set x"} {
		if status := run(context.Background(), strings.Fields(args), &stdout, &stderr); status != exitError {
			t.Errorf("%s: status %d", args, status)
		}
	}
	if status := run(context.Background(), []string{"-h"}, &stdout, &stderr); status != exitGood {
		t.Errorf("-h: status %d", status)
	}
}

// A run that was ended continues: scenarios that were measured are not planned again, and all are in the summary.
func TestMeasuredScenariosAreNotPlannedAgain(t *testing.T) {
	name := filepath.Join(t.TempDir(), "measured")
	var stdout, stderr bytes.Buffer
	if status := run(context.Background(), []string{"--scenarios", "a-30", "--measured", name}, &stdout, &stderr); status != exitGood {
		t.Fatalf("status %d: %s", status, &stderr)
	}
	data, err := os.ReadFile(name)
	if err != nil || !strings.HasPrefix(string(data), `{"row":{"scenario":"a-30"`) || strings.Count(string(data), "\n") != 1 {
		t.Fatalf("%s, %v", data, err)
	}
	changed := strings.Replace(string(data), `"pods":30`, `"pods":31`, 1)
	if err := os.WriteFile(name, []byte(changed), 0o600); err != nil {
		t.Fatal(err)
	}
	stdout.Reset()
	if status := run(context.Background(), []string{"--scenarios", "a-30,a-31", "--measured", name, "-o", "json"}, &stdout, &stderr); status != exitGood {
		t.Fatalf("status %d: %s", status, &stderr)
	}
	var rows []*row
	if err := json.Unmarshal(stdout.Bytes(), &rows); err != nil || len(rows) != 2 || rows[0].Pods != 31 || rows[1].Scenario != "a-31" {
		t.Errorf("%v, %s", err, &stdout)
	}
	if data, _ = os.ReadFile(name); strings.Count(string(data), "\n") != 2 || !strings.HasPrefix(string(data), changed) {
		t.Errorf("%s", data)
	}
	if err := os.WriteFile(name, []byte("{}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if status := run(context.Background(), []string{"--scenarios", "a-30", "--measured", name}, &stdout, &stderr); status != exitError || !strings.Contains(stderr.String(), "line 1 is not a measurement") {
		t.Errorf("status %d: %s", status, &stderr)
	}
}

// The summary names the plans that are not much faster than Karpenter's.
func TestSpeedups(t *testing.T) {
	if got := speedups([]*row{{Scenario: "a"}}); got != "" {
		t.Errorf("%q for nothing known", got)
	}
	got := speedups([]*row{{Scenario: "a", Speedup: 40}, {Scenario: "b", Speedup: 9.5}, {Scenario: "c"}, {Scenario: "d", Speedup: 10}})
	if want := "mean 15.6, at least 9.5 times (b), below 10 in 1 of 3: b 9.5"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// Scenarios whose data is not there are left out, saying so.
func TestRunWithoutData(t *testing.T) {
	t.Setenv(scenario.DataVariable, "")
	var stdout, stderr bytes.Buffer
	if status := run(context.Background(), []string{"--scenarios", "h,a-30"}, &stdout, &stderr); status != exitGood {
		t.Errorf("status %d: %s", status, &stderr)
	}
	if !strings.Contains(stderr.String(), "left out: scenario h needs") || !strings.Contains(stdout.String(), "a-30") {
		t.Errorf("%s%s", &stdout, &stderr)
	}
}

// A table is not written without the rows of scenarios that were left out.
func TestTableWithoutData(t *testing.T) {
	t.Setenv(scenario.DataVariable, "")
	name, page := filepath.Join(t.TempDir(), "page.md"), tablesBegin+"\nold\n"+tablesEnd+"\n"
	if err := os.WriteFile(name, []byte(page), 0o600); err != nil {
		t.Fatal(err)
	}
	var stdout, stderr bytes.Buffer
	if status := run(context.Background(), []string{"--scenarios", "h,a-30", "--table", name}, &stdout, &stderr); status != exitError {
		t.Errorf("status %d: %s", status, &stderr)
	}
	if !strings.Contains(stderr.String(), "would lose the rows of h: set $"+scenario.DataVariable) {
		t.Errorf("%s", &stderr)
	}
	if got, err := os.ReadFile(name); err != nil || string(got) != page {
		t.Errorf("%v: the file has become %q", err, got)
	}
}

// The document shows every scenario that is recorded and is no ordinary cluster.
func TestDocumentHasAllRows(t *testing.T) {
	known, err := readRecords()
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "benchmarks.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range known.names() {
		if !isOrdinary(name) && !strings.Contains(string(page), "| `"+name+"` |") {
			t.Errorf("docs/benchmarks.md has no row of %s", name)
		}
	}
}

func TestWorse(t *testing.T) {
	for name, c := range map[string]struct {
		r    row
		want string
	}{
		"good":                      {row{Cost: 1.01, OverKarpenter: 1, OverBest: 1.02}, ""},
		"refused":                   {row{Refused: 1, Refusals: []string{"no room"}}, "1 placements are refused: no room"},
		"above Karpenter":           {row{OverKarpenter: 1.001}, "Karpenter's plan"},
		"above the best":            {row{OverBest: 1.0201, BestBy: "somebody"}, "(somebody): 1.0201 times"},
		"nothing known, none worse": {row{}, ""},
	} {
		if got := c.r.worse(); got != c.want && (c.want == "" || !strings.Contains(got, c.want)) {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// A record keeps the best of all runs, and is written where the program lies.
func TestRecord(t *testing.T) {
	r := &record{}
	for _, cost := range []float64{5, 4, 4 - 1e-9, 6, 0, math.Inf(1)} {
		r.found(cost, "x")
	}
	for _, bound := range []float64{2, 3, 1} {
		r.proved(bound, "y")
	}
	if r.Best != 4 || r.ProvenBound != 3 {
		t.Errorf("%+v", r)
	}
	folder := t.TempDir()
	t.Chdir(folder)
	if err := (records{"a": r}).write(); err == nil {
		t.Error("written into a folder that is not the program's")
	}
	if err := os.WriteFile(filepath.Join(folder, "recorded.go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := (records{"a": r}).write(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile("recorded.json")
	if err != nil || !strings.Contains(string(data), `"best": 4`) {
		t.Errorf("%s, %v", data, err)
	}
}

// The tables stand between their markers; what is behind something else is in bold.
func TestTables(t *testing.T) {
	known := records{"m5-none-3z-1": {BestBy: "vector greedy"}, "fa-1000": {}}
	rows := []*row{
		{Scenario: "m5-none-3z-1", Pods: 2200, Types: 8, Cost: 62.5, Bound: 50, OverBound: 1.25, ProvenBound: 53.77, GreedyCost: 54.528, OverGreedy: 1.146,
			KarpenterCost: 66.05, OverKarpenter: 0.946, KarpenterVersion: "v1.14.1 go1.26.8", KarpenterCPUSeconds: 0.4, Speedup: 20, CPUSeconds: 0.02, BestCost: 54.528, OverBest: 1.146},
		{Scenario: "m5-none-3z-9", Pods: 2200, Types: 8, Cost: 50, OverKarpenter: 1.2, Speedup: 5},
		{Scenario: "fa-1000", Pods: 1000, Types: 400, Cost: 330},
	}
	name := filepath.Join(t.TempDir(), "a.md")
	if err := os.WriteFile(name, []byte("before\n"+tablesBegin+"\nold\n"+tablesEnd+"\nafter\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := writeTables(name, rows, known, []string{"--set", "all", "--table", name}); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	for _, want := range []string{
		"before\n" + tablesBegin, tablesEnd + "\nafter\n", "Karpenter v1.14.1. `go run ./corpus --set all --table a.md`",
		"| `m5-none-3z-1` | 2200 | 8 | 62.50 | 66.05 | 0.946 | 53.77 | 1.162 | 25.0 % | 54.53 | **1.146** | 54.53 | vector greedy | 1.146 | 20 ms | 400 ms | 20x |",
		"| `m5-none-3z` | 2 | 1.065, **1.200** |", "| `fa-1000` |", "| 1.162, 1.162 | 1.146, **1.146** | 1.146, 1.146 | 10.0x, 5.0x |",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if strings.Contains(text, "old") || strings.Contains(text, "m5-none-3z-9") {
		t.Errorf("too much in\n%s", text)
	}
	if err := os.WriteFile(name, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := writeTables(name, rows, known, nil); err == nil {
		t.Error("a file without markers is taken")
	}
}
