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

// If consolidateCommand is the first argument, this program runs drawknife's side of a consolidation. The other arguments are a planner,
// whether spot nodes may be replaced by spot nodes, and the file of the fleet.
const consolidateCommand = "consolidate-with-drawknife"

// The names of drawknife's disruption planners.
const (
	plannerGlobal    = "global"
	plannerReference = "reference"
)

// maxRounds is the largest number of rounds of a consolidation.
const maxRounds = 5000

// lookedOnce is the state after one search for commands, which is one line of a consolidation's output.
type lookedOnce struct {
	// the usage of all searches so far, including this search
	usage
	replay.Round
	// Timeouts is the number of searches so far that stopped because of the planner's time limit. It is 0 for drawknife, whose searches are
	// limited by work and not by time.
	Timeouts int `json:"timeouts,omitempty"`
	// Done means that the search found no commands, so this line is the last line of the output.
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

// consolidateOurs plans and executes commands until the planner finds no more commands. The measured time starts when the objects of the
// fleet exist. The time includes that each search compiles the fleet again.
func consolidateOurs(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	if len(args) != 3 {
		return errors.New("the arguments must be a planner, whether spot may be replaced by spot, and a file")
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
	defer input.Close() // the file was only read, so closing can't lose anything
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
	return fmt.Errorf("the planner still finds commands after %d rounds", maxRounds)
}

// stepOf converts a command to a replay.Step, which does not depend on the planner.
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
