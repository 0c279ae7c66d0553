package main

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/drawknife/drawknife/internal/bench/replay"
	"github.com/drawknife/drawknife/internal/bench/scenario"
	"github.com/drawknife/drawknife/internal/workload"
)

// Both planners of drawknife come to an end on small fleets, every command is one that a cluster would carry out, and Global
// is after three rounds at most as dear as Reference in the end.
func TestConsolidateOurs(t *testing.T) {
	ours, err := oursSide()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"consolidate-30", "consolidate-mixed-30"} {
		t.Run(name, func(t *testing.T) {
			s, err := scenario.Fleet(name, workload.Seed)
			if err != nil {
				t.Fatal(err)
			}
			folder := t.TempDir()
			file := filepath.Join(folder, "fleet.json")
			if err := save(file, s); err != nil {
				t.Fatal(err)
			}
			bound, err := lowerBound(t.Context(), replay.InStock(replay.Waiting(s.Snapshot)))
			if err != nil {
				t.Fatal(err)
			}
			r := &runner{timeout: 10 * time.Minute, folder: folder}
			var c consolidation
			for planner, into := range map[string]*drive{plannerGlobal: &c.Ours, plannerReference: &c.Reference} {
				side := &side{name: planner, command: []string{ours.command[0], consolidateCommand, planner, "true"}}
				if err := r.drive(t.Context(), side, file, 1, s.Snapshot, into); err != nil {
					t.Fatal(err)
				}
				t.Log(planner, fmt.Sprintf("%+v, bound %v", *into, bound))
				if into.Refused > 0 || into.CutOff != "" || into.Commands == 0 || into.HourlyCost < bound || into.Evictions == 0 {
					t.Errorf("%s: %+v", planner, *into)
				}
			}
			c.relate()
			if *c.ReferenceRatio > 1 {
				t.Errorf("Global is the dearer one: %v", *c.ReferenceRatio)
			}
		})
	}
}
