package main

import (
	"io"
	"strings"
	"testing"
	"time"

	"github.com/drawknife/drawknife/internal/bench/replay"
	"github.com/drawknife/drawknife/internal/bench/scenario"
)

// A planner that is stopped has what it had reached by then, and no ratio with its end is made; half a line is nothing.
func TestConsolidationCutOff(t *testing.T) {
	ours, err := oursSide()
	if err != nil {
		t.Fatal(err)
	}
	s, err := scenario.Fleet("consolidate-5", 1)
	if err != nil {
		t.Fatal(err)
	}
	r := &runner{
		ours: ours, theirs: &side{name: "Karpenter", version: "v0 go0", command: []string{ours.command[0]}},
		oursRuns: 1, theirsRuns: 1, timeout: 3 * time.Second, folder: t.TempDir(), progress: io.Discard,
	}
	// The time-out is for the side that never ends; the others have no need of it.
	c, err := r.consolidate(t.Context(), s, true)
	if err != nil {
		t.Fatal(err)
	}
	if d := c.Theirs; d.CutOff != "stopped after 3s of planning" || d.CPUSeconds != 1000 || d.HourlyCost != c.HourlyCost || d.Nodes != 5 || d.Commands != 0 {
		t.Errorf("%+v", d)
	}
	if c.Ours.CutOff != "" {
		t.Skip("this computer is too busy for drawknife to plan five nodes in three seconds")
	}
	if c.Speedup != nil || c.CostRatio != nil || c.SpeedupAtLeast == nil || *c.SpeedupAtLeast < 10 {
		t.Errorf("%+v", c)
	}
	for _, text := range []string{c.text(), fleetTableOf([]*consolidation{c}, nil, time.Time{})} {
		for _, want := range []string{"stopped after 3s of planning", "by then", "more than "} {
			if !strings.Contains(text, want) {
				t.Errorf("no %q in\n%s", want, text)
			}
		}
	}
}

func TestFleetTable(t *testing.T) {
	c := &consolidation{
		Scenario: "consolidate-9", About: "nine", Nodes: 9, Pods: 1234, HourlyCost: 20, LowerBound: 8, Karpenter: "v1.14.1 go1.26.8",
		Ours: drive{usage: usage{CPUSeconds: 0.5, AllocMB: 12}, Rounds: 4, Commands: 6, Evictions: 30, Nodes: 3, HourlyCost: 9,
			EvictionsPerDollar: ratio(30, 11), CostByRound: []float64{12, 11, 10, 9}},
		Reference: drive{usage: usage{CPUSeconds: 1}, Rounds: 1, Commands: 1, Nodes: 4, HourlyCost: 12, CostByRound: []float64{12}},
		Theirs:    drive{usage: usage{CPUSeconds: 5}, Rounds: 2, Commands: 2, Nodes: 4, HourlyCost: 12, CostByRound: []float64{13, 12}},
	}
	c.relate()
	text := fleetTableOf([]*consolidation{c}, []string{"--scenario", "consolidate-9"}, time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC))
	for _, want := range []string{
		"2026-01-02, ", "Karpenter v1.14.1. `go run ./compare --scenario consolidate-9`",
		"| consolidate-9 | as given, 1,234 pods |  |  |  |  |  |  | 9 | 20.00 | 2.500 |  |",
		"|  | drawknife | 500.0 ms | 12 MB | 4 | 6 | 30 | 2.727 | 3 | 9.00 | 1.125 | 0 |",
		"| consolidate-9 | 8.00 | 10x | 0.7500 | 10.00 | 0.8333 |",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if why := c.worse(); why != "" {
		t.Errorf("worse: %s", why)
	}
	for want, change := range map[string]func(c *consolidation){
		"cut off":                  func(c *consolidation) { c.Ours.CutOff = "stopped" },
		"wrong with drawknife's c": func(c *consolidation) { c.Ours.Refused, c.Ours.Refusals = 1, []string{"x"} },
		"its Reference":            func(c *consolidation) { c.Reference.HourlyCost = 9.5 },
		"commands of drawknife's":  func(c *consolidation) { c.Reference.Refused, c.Reference.Refusals = 1, []string{"x"} },
		"Karpenter's $8.5000/h":    func(c *consolidation) { c.Theirs.HourlyCost = 8.5 },
	} {
		worse := *c
		change(&worse)
		worse.relate()
		if why := worse.worse(); !strings.Contains(why, want) {
			t.Errorf("%q, want %q", why, want)
		}
	}
}

func TestLooks(t *testing.T) {
	for text, want := range map[string]int{"": 0, "{": 0, `{"steps":[]}`: 0, "{\"steps\":[]}\n": 1, "{\"steps\":[]}\n{\"done\":": 1} {
		if lines, err := looks([]byte(text)); err != nil || len(lines) != want {
			t.Errorf("%q: %d, %v", text, len(lines), err)
		}
	}
	if _, err := looks([]byte("x\n")); err == nil {
		t.Error("x is no line")
	}
	s, err := scenario.Fleet("consolidate-5", 1)
	if err != nil {
		t.Fatal(err)
	}
	var d drive
	if err := d.follow([]lookedOnce{{Round: replay.Round{Steps: []replay.Step{{Removed: []string{s.Snapshot.Nodes[0].Name}}}}}}, s.Snapshot); err == nil {
		t.Error("a command that leaves pods without a node is carried out")
	}
}
