package reconcilers

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/drawknife/drawknife/disruption"
	"github.com/drawknife/drawknife/scheduling/cluster"
)

// restricter is a planner that can validate some commands of a plan as if no other commands were carried out, like *disruption.Global.
type restricter interface {
	Restrict(ctx context.Context, f *disruption.Fleet, commands []*disruption.Command) (good []*disruption.Command, rejected []*disruption.RejectedError, err error)
}

// errUnanswered means that the planner has a bug: it neither accepted nor rejected a command.
var errUnanswered = errors.New("the planner does not report whether the command is still valid")

// validate validates all waiting commands together, in the order of their plan, because a command may be valid only together with another
// command.
func (d *disruptor) validate(ctx context.Context) error {
	list := d.unvalidated()
	if len(list) == 0 {
		return nil
	}
	view, err := d.planner.view(ctx, d.now())
	if err != nil {
		return err
	}
	fleet, good, rejected, err := d.recheck(ctx, view, list)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	answers := map[string]*disruption.Validation{}
	for _, cmd := range good {
		answers[cmd.ID] = &disruption.Validation{Command: cmd}
	}
	for _, why := range rejected {
		answers[why.Command] = &disruption.Validation{Err: why}
	}
	for _, cmd := range list {
		answer := answers[cmd.ID]
		if answer != nil && answer.Command != nil && d.options.Approver != nil {
			// Only approved actions may be carried out. Therefore, all pods to evict must have been approved.
			if why := disruption.MovedOn(fleet, answer.Command); why != nil {
				answer = &disruption.Validation{Err: why}
			}
		}
		if answer == nil {
			answer = &disruption.Validation{Err: cmp.Or(err, errUnanswered)}
		}
		if why := (*disruption.RejectedError)(nil); errors.As(answer.Err, &why) {
			d.void(cmd, why)
		} else if answer.Err != nil {
			d.reportRejection(cmd, answer.Err)
			d.log.Error("cannot validate disruption command, dropping it", "command", cmd.ID, "error", answer.Err)
		}
		d.mu.Lock()
		if run := d.running[cmd.ID]; run != nil {
			run.validation = answer
		}
		d.mu.Unlock()
	}
	wake(d.moved)
	return nil
}

// unvalidated returns the commands that wait for validation, in the order in which they were started.
func (d *disruptor) unvalidated() []*disruption.Command {
	d.mu.Lock()
	defer d.mu.Unlock()
	var runs []*commandRun
	for _, run := range d.running {
		if run.asksValidation && run.validation == nil && !run.execution.State().Final() {
			runs = append(runs, run)
		}
	}
	slices.SortFunc(runs, func(a, b *commandRun) int { return cmp.Compare(a.place, b.place) })
	var list []*disruption.Command
	for _, run := range runs {
		list = append(list, run.execution.Command())
	}
	return list
}

// recheck asks the planner which commands are still valid. It asks for all commands together if the planner supports that. Otherwise it
// asks for one command after another, and counts the earlier commands as in progress. It also returns the last surveyed fleet.
func (d *disruptor) recheck(ctx context.Context, view *cluster.View, list []*disruption.Command) (fleet *disruption.Fleet, good []*disruption.Command, rejected []*disruption.RejectedError, err error) {
	ctx, cancel := context.WithTimeout(ctx, *d.options.PlanTimeout)
	defer cancel()
	if planner, ok := d.options.Planner.(restricter); ok {
		if fleet, err = d.survey(view, list, nil); err != nil {
			return nil, nil, nil, err
		}
		good, rejected, err = planner.Restrict(ctx, fleet, list)
		return fleet, good, rejected, err
	}
	for _, cmd := range list {
		if fleet, err = d.survey(view, []*disruption.Command{cmd}, good); err != nil {
			return nil, nil, nil, err
		}
		still, err := d.options.Planner.Validate(ctx, fleet, cmd)
		var why *disruption.RejectedError
		switch {
		case errors.As(err, &why):
			rejected = append(rejected, why)
		case err != nil:
			return nil, nil, nil, err
		default:
			good = append(good, still)
		}
	}
	return fleet, good, rejected, nil
}

// void reports that a command is no longer valid.
func (d *disruptor) void(cmd *disruption.Command, why *disruption.RejectedError) {
	d.log.Info("invalidated disruption command", "command", cmd.ID, "description", cmd.String(), "category", why.Category, "reason", why.Error())
	d.reportRejection(cmd, why)
}
