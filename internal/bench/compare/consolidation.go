package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/drawknife/drawknife/internal/bench/judge"
	"github.com/drawknife/drawknife/internal/bench/replay"
	"github.com/drawknife/drawknife/internal/bench/scenario"
	"github.com/drawknife/drawknife/scheduling"
)

// roundsForReference is the number of rounds in which Global must reach a cost as low as the final cost of Reference.
const roundsForReference = 3

// consolidation is the result for one fleet, as it is printed.
type consolidation struct {
	Scenario      string `json:"scenario"`
	About         string `json:"about"`
	Seed          uint64 `json:"seed"`
	Nodes         int    `json:"nodes"`
	Pods          int    `json:"pods"`
	InstanceTypes int    `json:"instanceTypes"`
	SpotToSpot    bool   `json:"spotToSpot"`
	// HourlyCost is the cost of the given fleet.
	HourlyCost float64 `json:"hourlyCost"`
	// LowerBound is a lower bound on the cost of any set of nodes that holds the pods.
	LowerBound float64 `json:"lowerBound"`
	// Ours is the result of disruption.Global, Reference is that of disruption.Reference, and Theirs is that of Karpenter's methods.
	Ours      drive `json:"ours"`
	Reference drive `json:"reference"`
	Theirs    drive `json:"theirs"`
	// Speedup is null if a side did not finish in time. SpeedupAtLeast is set if drawknife finished in time and Karpenter did not.
	Speedup        *float64 `json:"speedup"`
	SpeedupAtLeast *float64 `json:"speedupAtLeast,omitempty"`
	CostRatio      *float64 `json:"costRatio"`
	// ReferenceRatio is the cost of Global after roundsForReference rounds, divided by the final cost of Reference.
	ReferenceRatio *float64 `json:"referenceRatio"`
	Karpenter      string   `json:"karpenter"`
}

// drive is the result of one planner, and the resources that it used. If CutOff is set, all fields show the state after the last search
// that was printed.
type drive struct {
	CutOff string `json:"cutOff,omitempty"`
	usage
	// Rounds is the number of searches that found commands. Commands is the number of commands that these searches found.
	Rounds   int `json:"rounds"`
	Commands int `json:"commands"`
	Removed  int `json:"removed"`
	Launched int `json:"launched"`
	// Timeouts is the number of searches that stopped because of the planner's time limit.
	Timeouts int `json:"timeouts"`
	// Evictions counts a pod each time it had to move.
	Evictions  int     `json:"evictions"`
	Nodes      int     `json:"nodes"`
	HourlyCost float64 `json:"hourlyCost"`
	// EvictionsPerDollar is the number of evictions divided by the saving in USD per hour. It is null if the commands save nothing.
	EvictionsPerDollar *float64 `json:"evictionsPerDollar"`
	// CostByRound is the hourly cost after each round.
	CostByRound []float64 `json:"costByRound"`
	Refused     int       `json:"refused"`
	Refusals    []string  `json:"refusals,omitempty"`
}

// consolidate runs the three planners on a fleet, each in a separate process, one after the other.
func (r *runner) consolidate(ctx context.Context, s *scenario.Scenario, spotToSpot bool) (*consolidation, error) {
	file := filepath.Join(r.folder, "fleet.json")
	if err := save(file, s); err != nil {
		return nil, err
	}
	fleet, err := replay.New(s.Snapshot)
	if err != nil {
		return nil, err
	}
	waiting := replay.Waiting(s.Snapshot)
	c := &consolidation{
		Scenario: s.Name, About: s.About, Seed: s.Seed, Nodes: len(s.Snapshot.Nodes), Pods: len(waiting.Pods), SpotToSpot: spotToSpot,
		HourlyCost: fleet.HourlyCost(), Karpenter: r.theirs.version,
	}
	for _, types := range s.Snapshot.Catalogs {
		c.InstanceTypes = max(c.InstanceTypes, len(types))
	}
	if c.LowerBound, err = lowerBound(ctx, replay.InStock(waiting)); err != nil {
		return nil, err
	}
	for _, at := range []struct {
		name  string
		words []string
		runs  int
		into  *drive
	}{
		{"drawknife", append(r.ours.command[:1:1], consolidateCommand, plannerGlobal, fmt.Sprint(spotToSpot)), r.oursRuns, &c.Ours},
		{"drawknife's Reference", append(r.ours.command[:1:1], consolidateCommand, plannerReference, fmt.Sprint(spotToSpot)), 1, &c.Reference},
		{"Karpenter", append(r.theirs.command[:1:1], "consolidate", fmt.Sprint(spotToSpot)), r.theirsRuns, &c.Theirs},
	} {
		fmt.Fprintf(r.progress, "compare: %s, %d nodes: %s is planning\n", s.Name, c.Nodes, at.name)
		side := &side{name: at.name, command: at.words}
		if err := r.drive(ctx, side, file, at.runs, s.Snapshot, at.into); err != nil {
			return nil, fmt.Errorf("scenario %s: %w", s.Name, err)
		}
	}
	c.relate()
	return c, nil
}

// lowerBound returns the lower bound that the judge proves for the cost of all pods, from the certificate of a plan for them.
func lowerBound(ctx context.Context, waiting *scheduling.Snapshot) (float64, error) {
	model, err := scheduling.Compile(waiting)
	if err != nil {
		return 0, err
	}
	plan, err := model.Solve(ctx, scheduling.Query{})
	if err != nil {
		return 0, err
	}
	pods := make([]string, len(waiting.Pods))
	for i, pod := range waiting.Pods {
		pods[i] = pod.Namespace + "/" + pod.Name
	}
	return judge.New(waiting).Bound(plan.Certificate, pods), nil
}

// drive runs a side the given number of times. It then executes the commands of the run with the least CPU time.
func (r *runner) drive(ctx context.Context, s *side, file string, runs int, snapshot *scheduling.Snapshot, into *drive) error {
	var best []lookedOnce
	for range runs {
		said, err := s.output(ctx, file, r.timeout)
		if err != nil && !errors.Is(err, errCutOff) {
			return err
		}
		lines, e := looks(said)
		if e != nil {
			return fmt.Errorf("reading the output of %s: %w", s.name, e)
		}
		if err != nil {
			into.CutOff = fmt.Sprintf("stopped after %s of planning", r.timeout)
			best = lines
			break
		}
		if len(lines) == 0 || !lines[len(lines)-1].Done {
			return fmt.Errorf("%s ended before its last result", s.name)
		}
		if best == nil || lines[len(lines)-1].CPUSeconds < best[len(best)-1].CPUSeconds {
			best = lines
		}
	}
	return into.follow(best, snapshot)
}

// looks returns the complete lines of a consolidation's output.
func looks(said []byte) ([]lookedOnce, error) {
	if end := bytes.LastIndexByte(said, '\n'); end >= 0 {
		said = said[:end+1]
	} else {
		said = nil
	}
	var lines []lookedOnce
	dec := json.NewDecoder(bytes.NewReader(said))
	for {
		var line lookedOnce
		if err := dec.Decode(&line); errors.Is(err, io.EOF) {
			return lines, nil
		} else if err != nil {
			return nil, err
		}
		lines = append(lines, line)
	}
}

// follow executes the commands that the lines contain. The judge checks each step.
func (d *drive) follow(lines []lookedOnce, snapshot *scheduling.Snapshot) error {
	fleet, err := replay.New(snapshot)
	if err != nil {
		return err
	}
	before := fleet.HourlyCost()
	d.CostByRound = []float64{}
	for i := range lines {
		d.usage, d.Timeouts = lines[i].usage, lines[i].Timeouts
		if len(lines[i].Steps) == 0 {
			continue
		}
		d.Rounds++
		for k := range lines[i].Steps {
			step := &lines[i].Steps[k]
			d.Commands++
			for _, refusal := range fleet.Check(step) {
				d.Refused++
				d.Refusals = append(d.Refusals, fmt.Sprintf("command %d (%s): %s", d.Commands, step.Method, refusal))
			}
			if err := fleet.Apply(step); err != nil {
				return fmt.Errorf("command %d (%s): %w", d.Commands, step.Method, err)
			}
		}
		d.CostByRound = append(d.CostByRound, fleet.HourlyCost())
	}
	d.Refusals = d.Refusals[:min(len(d.Refusals), shownRefusals)]
	d.Removed, d.Launched, d.Evictions = fleet.Removed, fleet.Launched, fleet.Evictions
	d.Nodes, d.HourlyCost = len(fleet.Snapshot.Nodes), fleet.HourlyCost()
	if saved := before - d.HourlyCost; saved > 0 {
		d.EvictionsPerDollar = ratio(float64(d.Evictions), saved)
	}
	return nil
}

// after returns the hourly cost after the given number of rounds of d, or after the last round if d has fewer rounds.
func (c *consolidation) after(d *drive, rounds int) float64 {
	if n := min(rounds, len(d.CostByRound)); n > 0 {
		return d.CostByRound[n-1]
	}
	return c.HourlyCost
}

// relate computes the ratios between the results of the planners.
func (c *consolidation) relate() {
	if c.Ours.CutOff != "" {
		return
	}
	if faster := ratio(c.Theirs.CPUSeconds, c.Ours.CPUSeconds); c.Theirs.CutOff == "" {
		c.Speedup = faster
		c.CostRatio = ratio(c.Ours.HourlyCost, c.Theirs.HourlyCost)
	} else {
		c.SpeedupAtLeast = faster
	}
	if c.Reference.CutOff == "" {
		c.ReferenceRatio = ratio(c.after(&c.Ours, roundsForReference), c.Reference.HourlyCost)
	}
}

// worse says why drawknife's result is not good enough, or returns "" if it is good enough.
func (c *consolidation) worse() string {
	switch {
	case c.Ours.CutOff != "":
		return "drawknife was cut off"
	case c.Ours.Refused > 0:
		return fmt.Sprintf("%d things are wrong with drawknife's commands: %s", c.Ours.Refused, c.Ours.Refusals[0])
	case c.Reference.Refused > 0:
		return fmt.Sprintf("%d things are wrong with the commands of drawknife's Reference: %s", c.Reference.Refused, c.Reference.Refusals[0])
	case c.ReferenceRatio != nil && *c.ReferenceRatio > 1+1e-9:
		return fmt.Sprintf("after %d rounds drawknife's fleet costs $%.4f/h, that of its Reference $%.4f/h in the end",
			roundsForReference, c.after(&c.Ours, roundsForReference), c.Reference.HourlyCost)
	case c.CostRatio != nil && *c.CostRatio > 1+1e-9:
		return fmt.Sprintf("drawknife's fleet costs $%.4f/h, Karpenter's $%.4f/h", c.Ours.HourlyCost, c.Theirs.HourlyCost)
	}
	return ""
}
