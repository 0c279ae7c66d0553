// Package global answers one question: which nodes should go, and what should be launched instead, for the least money that is worth the
// disturbance, when the whole fleet is planned at once?
//
// Input are a survey.Fleet, Options without anything left to fill in, and perhaps the Memory of an earlier plan; output are a plan of many
// commands in waves with a verdict for each node, and a Memory for the next. disruption.Global is this planner.
//
// It is a local search with undo (Aarts and Lenstra, Local Search in Combinatorial Optimization, 1997). Candidates are removed one by
// one and in groups, on one trial.Trial that hides them, places their pods on nodes that stay or on new ones, and rolls back what is
// not worth it. Several strategies are gone side by side; the best of them is refined: nodes that it launches are candidates too, and nodes
// that received pods are freed again. docs/algorithm.md explains it with figures.
//
// Work is bounded by a number of what-ifs, Options.Work, each of which takes as long as placing the pods of its group; not by the clock,
// so that a plan is the same on every computer, and at any parallelism.
//
// What all strategies start from and nobody changes is in a search context (ground); what a strategy has decided, tried and has at hand is
// the state of its search, and belongs to one goroutine.
//
//	context      candidates with what a search weighs                  context.go, options.go
//	strategies   which groups are tried, in which order                search.go, tries.go, lookahead.go, scouts.go, groups.go, afresh.go,
//	                                                                   merged.go, budgets.go
//	groups       what becomes of one                                   attempt.go, launch.go, worth.go, flexible.go, vain.go
//	refining     new nodes as candidates                               refine.go
//	plans        commands, waves, verdicts                             commands.go, families.go, plan.go, waves.go, robustness.go, agreement.go
//	memory       what a plan leaves for the next                       memory.go, memoryuntil.go, again.go
package global

import (
	"context"
	"time"

	"github.com/drawknife/drawknife/internal/consolidate/reference"
	"github.com/drawknife/drawknife/internal/consolidate/survey"
	"github.com/drawknife/drawknife/scheduling/planning"
)

// Options say how a search goes about it: disruption.Global says what each means. All are as given, 0 is 0.
type Options struct {
	Query               planning.Query
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

// Reference are the options of the part of the work that both planners do alike.
func (g *Options) Reference() passOptions {
	return passOptions{&reference.Options{
		Query: g.Query, SpotToSpot: g.SpotToSpot, SpotToSpotTypes: g.SpotToSpotTypes, ValidationDelay: g.ValidationDelay,
	}}
}

// passOptions are the reference's options as a search uses them.
type passOptions struct{ *reference.Options }

// begin is the pass of a search.
func (o passOptions) begin(ctx context.Context, f *survey.Fleet) (*pass, error) {
	p, err := o.Options.Begin(ctx, f)
	return &pass{Pass: p}, err
}

// Plan decides for all nodes at once. Each way of searching is gone to its end, and the cheapest outcome is kept and refined.
func (g *Options) Plan(ctx context.Context, f *survey.Fleet) (*reference.Plan, error) {
	start, err := g.newContext(ctx, f, nil)
	if err != nil {
		return nil, err
	}
	best, err := start.fromNothing(ctx)
	if err != nil {
		return nil, err
	}
	return best.plan(ctx)
}
