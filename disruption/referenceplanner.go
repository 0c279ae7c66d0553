package disruption

import (
	"context"
	"errors"
	"time"

	"github.com/drawknife/drawknife/api/option"
	"github.com/drawknife/drawknife/internal/consolidate/reference"
	"github.com/drawknife/drawknife/scheduling"
)

// Defaults of Reference, for options that are nil.
const (
	// DefaultValidationDelay is how long consolidation waits before a command is validated and started.
	DefaultValidationDelay = 15 * time.Second
	// DefaultMaxBatch is the largest number of nodes that one command of multi-node consolidation removes.
	DefaultMaxBatch = 100
	// DefaultSpotToSpotTypes is the number of cheaper types that a spot node must have to be replaced by a spot node.
	DefaultSpotToSpotTypes = 15
	// DefaultMaxTrials is the maximum number of what-ifs for multi-node consolidation, and the same for single-node consolidation.
	DefaultMaxTrials = 5000
)

// Reference plans as Karpenter does: it tries the methods in Karpenter's order and uses the first method that finds a command. Use it to
// keep Karpenter's behavior, and to compare other planners with it. The zero value is ready to use: an option that is nil has its default,
// and an option that is 0 is used as 0. Options outside their range are refused with an *option.Error. A Reference is safe for concurrent
// use while its fields are not changed.
type Reference struct {
	// Query says how to place pods; use the same Query as for provisioning.
	Query scheduling.Query
	// SpotToSpot allows replacing spot nodes by spot nodes.
	SpotToSpot bool
	// SpotToSpotTypes is the minimum number of cheaper types that a replacement of a single spot node must allow; at least 1.
	SpotToSpotTypes *int
	// MaxBatch is the number of nodes that a command of multi-node consolidation may remove; at least 1.
	MaxBatch *int
	// ValidationDelay is the time between planning and Command.NotBefore, in which the cluster may change; at least 0.
	ValidationDelay *time.Duration
	// MaxTrials is the maximum number of what-ifs of consolidation; at least 1. It is a number and not a time, so that plans do not
	// depend on the speed of the computer. To limit the time, give the context a deadline.
	MaxTrials *int
}

// Plan tries the methods in their order; the first method that finds commands ends the pass. Start the commands and plan again.
func (r *Reference) Plan(ctx context.Context, fleet *Fleet) (*Plan, error) {
	f := fleet.seen()
	if f == nil {
		return nil, option.Missing("Reference.Plan", "a fleet that Survey made")
	}
	options, err := r.options()
	if err != nil {
		return nil, err
	}
	p, err := options.Plan(ctx, f)
	return (*Plan)(p), err
}

// Validate checks a command again in the fleet as it is now, and returns the command to start. Its members must still qualify and budgets
// must allow all of them. Pods must have places as planned, and the planned types must still be suitable. An Emptiness command continues
// with the members that still qualify. Any other command needs all of its members.
func (r *Reference) Validate(ctx context.Context, f *Fleet, cmd *Command) (*Command, error) {
	if cmd == nil {
		return nil, option.Missing("Reference.Validate", "the command")
	}
	p := f.seen()
	if p == nil {
		return nil, option.Missing("Reference.Validate", "a fleet that Survey made")
	}
	options, err := r.options()
	if err != nil {
		return nil, err
	}
	return options.Validate(ctx, p, cmd)
}

// options returns the options of the planner in internal/consolidate, with defaults filled in.
func (r *Reference) options() (*reference.Options, error) {
	o := &reference.Options{
		Query: r.Query, SpotToSpot: r.SpotToSpot, SpotToSpotTypes: option.Or(r.SpotToSpotTypes, DefaultSpotToSpotTypes),
		MaxBatch: option.Or(r.MaxBatch, DefaultMaxBatch), ValidationDelay: option.Or(r.ValidationDelay, DefaultValidationDelay),
		MaxTrials: option.Or(r.MaxTrials, DefaultMaxTrials),
	}
	return o, errors.Join(
		atLeast("Reference.SpotToSpotTypes", o.SpotToSpotTypes, 1), atLeast("Reference.MaxBatch", o.MaxBatch, 1),
		atLeast("Reference.ValidationDelay", o.ValidationDelay, 0), atLeast("Reference.MaxTrials", o.MaxTrials, 1),
	)
}
