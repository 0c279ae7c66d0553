package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"time"

	"github.com/drawknife/drawknife/internal/bench/judge"
	"github.com/drawknife/drawknife/internal/bench/scenario"
)

// comparison is the result for one scenario, as it is printed.
type comparison struct {
	Scenario string `json:"scenario"`
	About    string `json:"about"`
	Pods     int    `json:"pods"`
	Seed     uint64 `json:"seed,omitempty"`
	// Existing is the number of existing nodes.
	Existing      int     `json:"existingNodes"`
	InstanceTypes int     `json:"instanceTypes"`
	Ours          outcome `json:"ours"`
	Theirs        outcome `json:"theirs"`
	// LowerBound is null if drawknife did not finish in time, because only drawknife's certificate proves a bound.
	LowerBound *float64 `json:"lowerBound"`
	Speedup    *float64 `json:"speedup"`
	CostRatio  *float64 `json:"costRatio"`
	AllocRatio *float64 `json:"allocRatio"`
	PeakRatio  *float64 `json:"peakRatio"`
	Karpenter  string   `json:"karpenter"`
}

// outcome is the result of one side of the comparison. If the side did not finish in time, all its numbers are null.
type outcome struct {
	CutOff        string   `json:"cutOff,omitempty"`
	WallSeconds   *float64 `json:"wallSeconds"`
	CPUSeconds    *float64 `json:"cpuSeconds"`
	AllocMB       *float64 `json:"allocMB"`
	Mallocs       *uint64  `json:"mallocs"`
	PeakMB        *float64 `json:"peakMB"`
	Nodes         *int     `json:"nodes"`
	Unschedulable *int     `json:"unschedulable"`
	HourlyCost    *float64 `json:"hourlyCost"`
	Refused       *int     `json:"refused"`
	Refusals      []string `json:"refusals,omitempty"`
}

// shownRefusals is the largest number of refusals that are printed.
const shownRefusals = 10

// runner compares scenarios.
type runner struct {
	ours, theirs         *side
	oursRuns, theirsRuns int
	timeout              time.Duration
	folder               string
	progress             io.Writer
}

func (r *runner) compare(ctx context.Context, s *scenario.Scenario) (*comparison, error) {
	file := filepath.Join(r.folder, "workload.json")
	if err := save(file, s); err != nil {
		return nil, err
	}
	c := &comparison{
		Scenario: s.Name, About: s.About, Pods: len(s.Snapshot.Pods), Seed: s.Seed, Existing: len(s.Snapshot.Nodes), Karpenter: r.theirs.version,
	}
	for _, types := range s.Snapshot.Catalogs {
		c.InstanceTypes = max(c.InstanceTypes, len(types))
	}
	j := judge.New(s.Snapshot)
	results := make(map[*side]*result)
	for _, at := range []struct {
		side *side
		runs int
		into *outcome
	}{{r.ours, r.oursRuns, &c.Ours}, {r.theirs, r.theirsRuns, &c.Theirs}} {
		fmt.Fprintf(r.progress, "compare: %s, %d pods: %s is planning\n", s.Name, c.Pods, at.side.name)
		planned, err := at.side.run(ctx, file, at.runs, r.timeout)
		if errors.Is(err, errCutOff) {
			at.into.CutOff = fmt.Sprintf("stopped after %s of planning", r.timeout)
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("scenario %s: %w", s.Name, err)
		}
		results[at.side] = planned
		at.into.fill(planned, j.Check(&planned.Plan))
	}
	c.relate(j, results[r.ours], results[r.theirs])
	return c, nil
}

func save(name string, s *scenario.Scenario) error {
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	b := bufio.NewWriter(file)
	return errors.Join(s.Snapshot.EncodeJSON(b), b.Flush(), file.Close())
}

func (o *outcome) fill(r *result, v judge.Verdict) {
	o.WallSeconds, o.CPUSeconds, o.AllocMB, o.Mallocs, o.PeakMB = &r.WallSeconds, &r.CPUSeconds, &r.AllocMB, &r.Mallocs, &r.PeakMB
	refused := len(v.Refusals)
	o.Nodes, o.Unschedulable, o.HourlyCost, o.Refused = &v.Nodes, &v.Unschedulable, &v.HourlyCost, &refused
	o.Refusals = v.Refusals[:min(refused, shownRefusals)]
}

// relate computes LowerBound and the ratios.
func (c *comparison) relate(j *judge.Judge, ours, theirs *result) {
	if ours != nil {
		bound := j.Bound(ours.Certificate, placedByBoth(ours, theirs))
		c.LowerBound = &bound
	}
	if ours == nil || theirs == nil {
		return
	}
	c.Speedup = ratio(theirs.CPUSeconds, ours.CPUSeconds)
	c.AllocRatio = ratio(ours.AllocMB, theirs.AllocMB)
	c.PeakRatio = ratio(ours.PeakMB, theirs.PeakMB)
	if *c.Ours.Unschedulable == *c.Theirs.Unschedulable {
		c.CostRatio = ratio(*c.Ours.HourlyCost, *c.Theirs.HourlyCost)
	}
}

// ratio returns the quotient a/b. It returns 1 if both numbers are 0, and nil if the quotient is infinite or not a number.
func ratio(a, b float64) *float64 {
	q := a / b
	if a == 0 && b == 0 {
		q = 1
	}
	if math.IsInf(q, 0) || math.IsNaN(q) {
		return nil
	}
	return &q
}

// placedByBoth returns the pods that both ours and theirs place. A nil result is treated as if it placed all pods.
func placedByBoth(ours, theirs *result) []string {
	leftOut := make(map[string]bool)
	var all []string
	for _, r := range []*result{ours, theirs} {
		if r == nil {
			continue
		}
		for _, u := range r.Unschedulable {
			leftOut[u.Pod] = true
		}
	}
	add := func(pods []string) {
		for _, pod := range pods {
			if !leftOut[pod] {
				all = append(all, pod)
			}
		}
	}
	for _, n := range ours.NewNodes {
		add(n.Pods)
	}
	for _, n := range ours.Existing {
		add(n.Pods)
	}
	return all
}

// worse says why drawknife's result is not good enough, or returns "" if it is good enough.
func (c *comparison) worse() string {
	switch {
	case c.Ours.CutOff != "":
		return "drawknife was cut off"
	case *c.Ours.Refused > 0:
		return fmt.Sprintf("%d of drawknife's placements are refused: %s", *c.Ours.Refused, c.Ours.Refusals[0])
	case c.Theirs.CutOff != "":
		return ""
	case *c.Ours.Unschedulable > *c.Theirs.Unschedulable:
		return fmt.Sprintf("drawknife leaves out %d pods, Karpenter %d", *c.Ours.Unschedulable, *c.Theirs.Unschedulable)
	case *c.Ours.Unschedulable == *c.Theirs.Unschedulable && *c.Ours.HourlyCost > *c.Theirs.HourlyCost*(1+1e-9)+1e-9:
		return fmt.Sprintf("drawknife's plan costs $%.4f/h, Karpenter's $%.4f/h", *c.Ours.HourlyCost, *c.Theirs.HourlyCost)
	}
	return ""
}
