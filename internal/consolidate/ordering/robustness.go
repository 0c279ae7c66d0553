package ordering

import (
	"context"
	"math"
	"slices"
	"strings"

	"github.com/drawknife/drawknife/disruption/decision"
	"github.com/drawknife/drawknife/internal/consolidate/pseudorandom"
	"github.com/drawknife/drawknife/internal/consolidate/reference"
	"github.com/drawknife/drawknife/internal/consolidate/replay"
	"github.com/drawknife/drawknife/internal/engine/placing"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// withstand shortens each wave until its commands leave no pod without a place, even if kube-scheduler puts the pods elsewhere. For each
// wave, it first executes the earlier waves as planned. Then it scatters all pods of the wave over existing nodes and the wave's new nodes,
// in several random orders. As long as one of the random orders leaves a pod without a place, withstand removes the last command of the
// wave and tries again. The members of removed commands are left for the next plan.
func (p *Planner) withstand(ctx context.Context, out *Order) error {
	if p.Robustness <= 0 || len(out.Commands) == 0 {
		return nil
	}
	r, err := replay.New(ctx, p.Reference, p.Fleet)
	if err != nil {
		return err
	}
	random := pseudorandom.Source(p.Seed)
	for _, list := range out.takeWaves() {
		for len(list) > 0 {
			lost, err := p.scatter(ctx, r, list, &random)
			if err != nil {
				return err
			}
			if len(lost) == 0 {
				break
			}
			last := len(list) - 1
			p.leave(out, list[last], &decision.Block{Code: decision.BlockRobustness, Pods: lost[:min(len(lost), reference.MaxNamed)], Count: p.Robustness})
			p.Types.Waiting = true
			list = list[:last]
		}
		if list, err = r.Carried(ctx, list); err != nil {
			return err
		}
		if len(list) > 0 {
			p.addWave(out, list)
		}
	}
	return nil
}

// scatter executes the commands and puts their pods on random nodes with room, in Planner.Robustness random orders. It returns the pods
// that the first failing order leaves without a place, and undoes all changes of the trial.
func (p *Planner) scatter(ctx context.Context, r *replay.Replay, list []*decision.Command, random *pseudorandom.Source) (lost []planning.PodKey, err error) {
	start := r.Trial.Mark()
	defer func() {
		if back := r.Trial.Rollback(start); err == nil {
			err = back
		}
	}()
	var pods []planning.PodKey
	for _, cmd := range list {
		for i := range cmd.Members {
			moves := p.Fleet.Moves(cmd.Members[i].Pool)
			if cmd.Method == decision.MethodEmptiness || cmd.Method == decision.MethodStaticDrift {
				moves = replay.NobodyMoves
			}
			if _, err := r.Trial.HideMoving(cmd.Members[i].Node, moves); err != nil {
				return nil, err
			}
		}
		for i := range cmd.Receivers {
			pods = append(pods, cmd.Receivers[i].Pods...)
		}
		for i := range cmd.Replacements {
			if n := cmd.Replacements[i].Node; n != nil {
				pods = append(pods, n.Pods...)
				empty := *n
				empty.Pods = nil
				if err := placing.Of(r.Trial).PutNew(&empty); err != nil {
					return n.Pods, nil
				}
			}
		}
	}
	slices.SortFunc(pods, func(a, b planning.PodKey) int { return strings.Compare(a.String(), b.String()) })
	before := r.Trial.Mark()
	for range p.Robustness {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		for i := len(pods) - 1; i > 0; i-- {
			j := random.Below(i + 1)
			pods[i], pods[j] = pods[j], pods[i]
		}
		if lost, err = placing.Of(r.Trial).Scatter(pods); err == nil && len(lost) == 0 {
			// Pods that were already pending in the snapshot, and that the trial placed on a removed node, belong to no command. So the
			// list pods does not contain them. They are placed last.
			lost, err = placing.Of(r.Trial).Scatter(r.Trial.Waiting(math.MaxInt))
		}
		if err != nil || len(lost) > 0 {
			return lost, err
		}
		if err := r.Trial.Rollback(before); err != nil {
			return nil, err
		}
	}
	return nil, nil
}
