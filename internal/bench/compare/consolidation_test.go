package main

import (
	"io"
	"testing"
	"time"

	"github.com/drawknife/drawknife/internal/bench/scenario"
	"github.com/drawknife/drawknife/internal/workload"
)

// TestSmallFleets consolidates small fleets on both sides. One for which Global allocates a quarter more than recorded fails,
// as does one that ends up more expensive than Karpenter's, whose commands a cluster would refuse, that costs less than the bound, or
// that Global leaves more expensive after three rounds than Reference does in the end. CPU times are printed and judged by nobody;
// the time-out is there for what never ends.
func TestSmallFleets(t *testing.T) {
	ours, err := oursSide()
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	theirs, err := theirsSide(t.Context(), "", folder, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	r := &runner{ours: ours, theirs: theirs, oursRuns: 2, theirsRuns: 1, timeout: 10 * time.Minute, folder: folder, progress: io.Discard}
	records := recorded(t)
	for _, name := range scenario.SmallFleets() {
		t.Run(name, func(t *testing.T) {
			s, err := scenario.Fleet(name, workload.Seed)
			if err != nil {
				t.Fatal(err)
			}
			c, err := r.consolidate(t.Context(), s, true)
			if err != nil {
				t.Fatal(err)
			}
			t.Log("\n" + c.text())
			if why := c.worse(); why != "" {
				t.Error(why)
			}
			if c.Theirs.CutOff != "" || c.Reference.CutOff != "" {
				t.Skip("a side was cut off")
			}
			for side, d := range map[string]*drive{"Global": &c.Ours, "Reference": &c.Reference, "Karpenter": &c.Theirs} {
				if d.HourlyCost < c.LowerBound || d.HourlyCost >= c.HourlyCost {
					t.Errorf("%s ends at $%v/h, the bound is $%v, the fleet was at $%v", side, d.HourlyCost, c.LowerBound, c.HourlyCost)
				}
				if d.Refused > 0 {
					t.Errorf("%s: %q", side, d.Refusals)
				}
				if d.Commands == 0 || d.Evictions == 0 || d.Nodes != c.Nodes-d.Removed+d.Launched || len(d.CostByRound) != d.Rounds {
					t.Errorf("%s: %+v", side, d)
				}
			}
			if *update {
				records[name] = record{c.Pods, c.Seed, round(c.Ours.AllocMB, 1), c.Ours.Mallocs, round(*c.CostRatio, 4)}
				return
			}
			was, known := records[name]
			if !known || was.Pods != c.Pods || was.Seed != c.Seed {
				t.Fatalf("%s says %+v of it: record it with -update", recordFile, was)
			}
			if why := was.moreWork(c.Ours.usage); why != "" {
				t.Error(why)
			}
		})
	}
	keep(t, records)
}
