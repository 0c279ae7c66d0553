package disruption

import (
	"context"
	"time"

	"github.com/drawknife/drawknife/internal/consolidate/reference"
	"github.com/drawknife/drawknife/internal/consolidate/survey"
	"github.com/drawknife/drawknife/scheduling"
)

// searchOptions say how a search goes about it: disruption.Global says what each means. All are as given, 0 is 0.
type searchOptions struct {
	Query               scheduling.Query
	PayBack             time.Duration
	MinSaving           float64
	MinSavingShare      float64
	DisruptionPrice     float64
	CoolDown            time.Duration
	SpotToSpot          bool
	SpotToSpotTypes     int
	MaxMembers, MaxBins int
	// MaxMerged is how many nodes a command of a fleet that is searched thoroughly removes at most that launches one at most.
	MaxMerged             int
	Work                  int
	Parallelism           int
	Robustness            int
	Checks                int
	Seed                  uint64
	LaunchTime, ReadyTime time.Duration
	DrainLimit            time.Duration
	ExpireAhead           time.Duration
	ValidationDelay       time.Duration
}

// reference are the options of the part of the work that both planners do alike.
func (o *searchOptions) reference() passOptions {
	return passOptions{&reference.Options{
		Query: o.Query, SpotToSpot: o.SpotToSpot, SpotToSpotTypes: o.SpotToSpotTypes, ValidationDelay: o.ValidationDelay,
	}}
}

// passOptions are the reference's options as a search uses them.
type passOptions struct{ *reference.Options }

// begin is the pass of a search.
func (o passOptions) begin(ctx context.Context, f *survey.Fleet) (*pass, error) {
	p, err := o.Options.Begin(ctx, f)
	return &pass{Pass: p}, err
}

// makePlan decides for all nodes at once. Each way of searching is gone to its end, and the cheapest outcome is kept and refined.
func (o *searchOptions) makePlan(ctx context.Context, f *survey.Fleet) (*reference.Plan, error) {
	start, err := o.newContext(ctx, f, nil)
	if err != nil {
		return nil, err
	}
	best, err := start.fromNothing(ctx)
	if err != nil {
		return nil, err
	}
	return best.plan(ctx)
}
