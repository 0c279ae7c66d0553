package ordering

import (
	"context"
	"fmt"
	"slices"

	"github.com/drawknife/drawknife/disruption/decision"
	"github.com/drawknife/drawknife/internal/consolidate/reference"
	"github.com/drawknife/drawknife/internal/consolidate/replay"
	"github.com/drawknife/drawknife/internal/engine/answering"
	"github.com/drawknife/drawknife/internal/engine/trial"
	"github.com/drawknife/drawknife/internal/engine/updating"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// agreement checks a plan with provisioning's planner before the plan is returned. It removes the nodes of a wave, adds the wave's new
// nodes, and asks whether provisioning places all pods or launches more nodes. If provisioning would launch more nodes, these become part
// of the command, provided that the command is still worth it. A command that is no longer worth it is left out.
type agreement struct {
	*Planner
	out *Order
	// model describes the fleet after the commands that were already accepted. The field asked counts the queries to provisioning.
	model *reference.SimulatorModel
	asked int
	// replay executes the accepted commands on a trial. It uses the same rules that also decide whether a command is still valid before its
	// execution.
	replay *replay.Replay
}

// agree checks the plan wave by wave.
func (p *Planner) agree(ctx context.Context, out *Order) error {
	if p.Checks == 0 || len(out.Commands) == 0 {
		return nil
	}
	model, err := reference.Settled(ctx, p.Fleet, p.Query)
	if err != nil {
		return err
	}
	r, err := replay.New(ctx, p.Reference, p.Fleet)
	if err != nil {
		return err
	}
	a := &agreement{Planner: p, out: out, model: model, replay: r}
	for _, list := range out.takeWaves() {
		parts, err := a.settle(ctx, list)
		if err != nil {
			return err
		}
		for _, part := range parts {
			p.addWave(out, part)
		}
	}
	return nil
}

// settle divides the commands of the list into waves, so that provisioning has places for all pods after each wave, and executes these
// waves in the replay. If provisioning lacks places after a wave, settle tries the halves of the wave one after the other. After
// Planner.Checks queries, settle no longer divides waves, and the plan lists the commands of unchecked waves in Unsettled.
func (a *agreement) settle(ctx context.Context, list []*decision.Command) ([][]*decision.Command, error) {
	if len(list) == 0 {
		return nil, nil
	}
	if len(list) == 1 {
		cmd, err := a.settleOne(ctx, list[0])
		if err != nil || cmd == nil {
			return nil, err
		}
		return [][]*decision.Command{{cmd}}, nil
	}
	wanted, known, err := a.wanted(ctx, list)
	if err != nil {
		return nil, err
	}
	switch {
	case !known:
		for _, cmd := range list {
			a.out.Unsettled = append(a.out.Unsettled, cmd.ID)
		}
	case wanted != nil:
		first, err := a.settle(ctx, list[:len(list)/2])
		if err != nil {
			return nil, err
		}
		second, err := a.settle(ctx, list[len(list)/2:])
		return append(first, second...), err
	}
	good, err := a.replay.Carried(ctx, list)
	if err != nil {
		return nil, err
	}
	for _, cmd := range list {
		if !slices.ContainsFunc(good, func(c *decision.Command) bool { return c.ID == cmd.ID }) {
			a.leave(a.out, cmd, &decision.Block{Code: decision.BlockLater})
		}
	}
	if len(good) == 0 {
		return nil, nil
	}
	return [][]*decision.Command{good}, a.carry(good)
}

// maxExtended is the largest number of times that one command is extended by nodes that provisioning needs. If provisioning then needs
// still more nodes, the command is not extended further, and the plan lists it in Unsettled.
const maxExtended = 5

// settleOne returns the command, extended by the nodes that provisioning needs. It returns nil if the extended command is not worth it, if
// the replay rejects it, or if a command that moves a gang would need an extension. If it returns nil, the command's members are left for
// the next plan.
func (a *agreement) settleOne(ctx context.Context, cmd *decision.Command) (*decision.Command, error) {
	for round := 0; ; round++ {
		wanted, known, err := a.wanted(ctx, []*decision.Command{cmd})
		if err != nil {
			return nil, err
		}
		if known && wanted != nil && round < maxExtended {
			next, why := cmd, &decision.Block{Code: decision.BlockLater}
			if !a.tied(cmd) {
				next, why = a.extended(ctx, cmd, wanted)
			}
			if why != nil {
				a.leave(a.out, cmd, why)
				return nil, nil
			}
			cmd = next
			continue
		}
		known = known && wanted == nil
		mark := a.replay.Trial.Mark()
		good, rejected, err := a.replay.Step(ctx, cmd)
		if err != nil {
			return nil, err
		}
		if rejected != nil {
			a.leave(a.out, cmd, rejected.Block)
			return nil, nil
		}
		if !known {
			a.out.Unsettled = append(a.out.Unsettled, cmd.ID)
		}
		a.describe(good, mark)
		return good, a.carry([]*decision.Command{good})
	}
}

// tied reports whether the command moves a gang as a whole, so that places were found for all pods of the gang together.
func (a *agreement) tied(cmd *decision.Command) bool {
	return slices.ContainsFunc(cmd.Members, func(m decision.Member) bool { return a.Fleet.TieOf(m.Node) != nil })
}

// describe sets the requests of the command's new nodes to the requests of the pods that the replay has placed on them.
func (a *agreement) describe(cmd *decision.Command, since trial.Mark) {
	nodes := a.replay.Planned(since, 1)
	if len(nodes) != len(cmd.Replacements) {
		return
	}
	list := slices.Clone(cmd.Replacements)
	for i := range list {
		if list[i].Node == nil {
			return
		}
		node := *list[i].Node
		node.Requests = nodes[i].Requests
		list[i].Node = &node
	}
	cmd.Replacements = list
}

// wanted asks provisioning to plan the fleet after the commands, with their moved pods pending. If a moved pod needs a further node or has
// no place, it returns this plan. If not, the plan is nil. known is false if provisioning was not asked, because Planner.Checks queries
// were made before.
func (a *agreement) wanted(ctx context.Context, list []*decision.Command) (plan *planning.Plan, known bool, err error) {
	if !slices.ContainsFunc(list, placesPods) {
		return nil, true, nil
	}
	if a.asked++; a.asked > a.Checks {
		return nil, false, nil
	}
	next, moving := a.after(list, false)
	model, err := updating.Update(a.model.Model, next)
	if err != nil {
		return nil, false, fmt.Errorf("checking whether provisioning would launch nodes after the plan: updating the model: %w", err)
	}
	if plan, err = answering.Solve(ctx, model, a.Query); err != nil {
		return nil, false, err
	}
	for i := range plan.NewNodes {
		if slices.ContainsFunc(plan.NewNodes[i].Pods, func(key planning.PodKey) bool { return moving[key] }) {
			return plan, true, nil
		}
	}
	for i := range plan.Unschedulable {
		if moving[plan.Unschedulable[i].Pod] {
			return plan, true, nil
		}
	}
	return nil, true, nil
}

// placesPods reports whether the command moves pods to existing or new nodes.
func placesPods(c *decision.Command) bool {
	return len(c.Receivers) > 0 || slices.ContainsFunc(c.Replacements, func(r decision.Replacement) bool { return r.Node != nil && len(r.Node.Pods) > 0 })
}

// carry updates a.model to the fleet after the given commands. Later commands start from this model.
func (a *agreement) carry(list []*decision.Command) error {
	if a.asked >= a.Checks {
		return nil // no query will follow, so the model is not used again
	}
	next, _ := a.after(list, true)
	model, err := updating.Update(a.model.Model, next)
	if err != nil {
		return fmt.Errorf("computing the fleet after an earlier plan: %w", err)
	}
	a.model = &reference.SimulatorModel{Model: model, Snapshot: next}
	return nil
}
