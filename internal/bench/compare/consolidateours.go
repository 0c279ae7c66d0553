package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	"github.com/drawknife/drawknife/disruption"
	"github.com/drawknife/drawknife/internal/bench/judge"
	"github.com/drawknife/drawknife/internal/bench/replay"
	"github.com/drawknife/drawknife/scheduling"
)

// consolidateCommand as the first argument makes this program drawknife's side of a consolidation. A planner, whether spot
// may be replaced by spot, and the file of the fleet follow.
const consolidateCommand = "consolidate-with-drawknife"

// Names of drawknife's planners.
const (
	plannerGlobal    = "global"
	plannerReference = "reference"
)

// maxRounds ends what does not end by itself.
const maxRounds = 5000

// lookedOnce is a line of what a side of a consolidation prints: what one look at the fleet came to.
type lookedOnce struct {
	// usage so far, this look included.
	usage
	replay.Round
	// Timeouts is how often a search was broken off for lack of time so far. Drawknife's are bounded by work instead.
	Timeouts int `json:"timeouts,omitempty"`
	// Done tells that nothing was found, and that this line is the last.
	Done bool `json:"done,omitempty"`
}

func planner(name string, spotToSpot bool) (disruption.Planner, error) {
	switch name {
	case plannerGlobal:
		return &disruption.Global{PayBack: new(time.Duration), MinSavingShare: new(float64), DisruptionPrice: new(float64), CoolDown: new(time.Duration), ValidationDelay: new(time.Duration), DrainLimit: new(time.Duration), SpotToSpot: spotToSpot}, nil
	case plannerReference:
		return &disruption.Reference{ValidationDelay: new(time.Duration), SpotToSpot: spotToSpot}, nil
	}
	return nil, fmt.Errorf("no planner %q", name)
}

// consolidateOurs plans and carries out until nothing is found any more. Measured is planning, from the objects: each look
// compiles the fleet again.
func consolidateOurs(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	if len(args) != 3 {
		return errors.New("arguments are a planner, whether spot may be replaced by spot, and a file")
	}
	spotToSpot, err := strconv.ParseBool(args[1])
	if err != nil {
		return err
	}
	p, err := planner(args[0], spotToSpot)
	if err != nil {
		return err
	}
	input, err := os.Open(args[2])
	if err != nil {
		return err
	}
	defer input.Close() // nothing was written, so closing can't lose anything
	snapshot, err := scheduling.DecodeSnapshot(input)
	if err != nil {
		return err
	}
	fleet, err := replay.New(snapshot)
	if err != nil {
		return err
	}
	fmt.Fprintln(stderr, begins)
	spent := newMeter()
	out := json.NewEncoder(stdout)
	for round := range maxRounds {
		var plan *disruption.Plan
		err := spent.add(func() error {
			seen, err := disruption.Survey(disruption.Input{View: disruption.ViewOf(fleet.Snapshot)})
			if err != nil {
				return err
			}
			plan, err = p.Plan(ctx, seen)
			return err
		})
		if err != nil {
			return err
		}
		line := lookedOnce{usage: spent.usage, Done: len(plan.Commands) == 0}
		line.Steps = []replay.Step{}
		for i, cmd := range plan.Commands {
			step := stepOf(cmd, fmt.Sprintf("new-%d-%d", round, i))
			if err := fleet.Apply(&step); err != nil {
				return fmt.Errorf("executing %s: %w", cmd, err)
			}
			line.Steps = append(line.Steps, step)
		}
		if err := out.Encode(line); err != nil {
			return err
		}
		if line.Done {
			return nil
		}
	}
	return fmt.Errorf("it still finds something after %d rounds", maxRounds)
}

// stepOf puts a command into words that need none of the planner's types.
func stepOf(cmd *disruption.Command, prefix string) replay.Step {
	step := replay.Step{Method: string(cmd.Method), Removed: cmd.Nodes()}
	for _, r := range cmd.Receivers {
		step.Existing = append(step.Existing, judge.ExistingNode{Name: r.Name, Pods: names(r.Pods)})
	}
	for i, r := range cmd.Replacements {
		bought := r.Node.InstanceTypes[0]
		step.Launched = append(step.Launched, replay.Launch{
			Name: fmt.Sprintf("%s-%d", prefix, i), NewNode: newNode(r.Node),
			InstanceType: bought.Name, Zone: bought.Zone, CapacityType: bought.CapacityType,
		})
	}
	return step
}
