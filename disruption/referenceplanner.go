package disruption

import (
	"context"
	"time"

	"github.com/drawknife/drawknife/api/option"
	"github.com/drawknife/drawknife/internal/consolidate/reference"
	"github.com/drawknife/drawknife/scheduling"
)

// Numbers of Reference, where its options leave them open.
const (
	// DefaultValidationDelay is how long consolidation waits before a command is validated and started.
	DefaultValidationDelay = 15 * time.Second
	// DefaultMaxBatch is how many nodes one command of multi-node consolidation removes at most.
	DefaultMaxBatch = 100
	// DefaultSpotToSpotTypes is how many cheaper types a spot node must have to be replaced by spot.
	DefaultSpotToSpotTypes = 15
	// DefaultMaxTrials is how many what-ifs multi-node and single-node consolidation try each.
	DefaultMaxTrials = 5000
)

// Reference plans as Karpenter does, step by step as the specification of disruption says: the methods in their order,
// and of those that find something the first. It is for those who come from there, and to compare others with. The zero
// value is ready, and safe for concurrent use as long as it is not changed.
type Reference struct {
	// Query is how places for pods are looked for: as in provisioning.
	Query scheduling.Query
	// SpotToSpot allows replacing spot nodes by spot nodes.
	SpotToSpot bool
	// SpotToSpotTypes is how many cheaper types that takes for one node; 0 is DefaultSpotToSpotTypes.
	SpotToSpotTypes int
	// MaxBatch bounds multi-node consolidation; 0 is DefaultMaxBatch.
	MaxBatch int
	// ValidationDelay is what Command.NotBefore leaves for things to change; 0 is DefaultValidationDelay, negative none.
	ValidationDelay time.Duration
	// MaxTrials bounds the work of consolidation: a bound on what-ifs, so that plans do not depend on how fast they are made;
	// 0 is DefaultMaxTrials. A context's deadline bounds it by the clock.
	MaxTrials int
}

// Plan tries the methods in their order; the first that finds commands ends the pass. Start them and
// plan again.
func (r *Reference) Plan(ctx context.Context, fleet *Fleet) (*Plan, error) {
	f := fleet.seen()
	if f == nil {
		return nil, option.Missing("Reference.Plan", "a fleet that Survey made")
	}
	p, err := r.options().Plan(ctx, f)
	return (*Plan)(p), err
}

// Validate looks at a command again in the fleet as it is now: its members must still qualify and budgets suffice for all
// of them; pods must have places as planned, and the types to be launched must still be among those that would do.
// Emptiness goes on with the members that still qualify, all others with all or none. The command that is returned is the
// one to start.
func (r *Reference) Validate(ctx context.Context, f *Fleet, cmd *Command) (*Command, error) {
	if cmd == nil {
		return nil, option.Missing("Reference.Validate", "the command")
	}
	p := f.seen()
	if p == nil {
		return nil, option.Missing("Reference.Validate", "a fleet that Survey made")
	}
	return r.options().Validate(ctx, p, cmd)
}

// options are those that the planner below goes by.
func (r *Reference) options() *reference.Options {
	return &reference.Options{
		Query: r.Query, SpotToSpot: r.SpotToSpot, SpotToSpotTypes: orDefault(r.SpotToSpotTypes, DefaultSpotToSpotTypes),
		MaxBatch: orDefault(r.MaxBatch, DefaultMaxBatch), ValidationDelay: orNone(r.ValidationDelay, DefaultValidationDelay),
		MaxTrials: orDefault(r.MaxTrials, DefaultMaxTrials),
	}
}

func orDefault(n, otherwise int) int {
	if n > 0 {
		return n
	}
	return otherwise
}
