package global

import (
	"context"

	"github.com/drawknife/drawknife/internal/consolidate/ordering"
	"github.com/drawknife/drawknife/internal/consolidate/paying"
	"github.com/drawknife/drawknife/internal/consolidate/removing"
	"github.com/drawknife/drawknife/internal/consolidate/searchcontext"
	"github.com/drawknife/drawknife/internal/consolidate/searching"
	"github.com/drawknife/drawknife/internal/consolidate/survey"
	"github.com/drawknife/drawknife/internal/consolidate/waves"
)

// context makes the search context for the fleet. It uses the parts of the memory that are still valid; m may be nil.
func (g *Options) context(ctx context.Context, f *survey.Fleet, m *Memory) (*searchcontext.Context, error) {
	return searchcontext.New(ctx, searchcontext.Settings{
		Query: g.Query, CoolDown: g.CoolDown, ExpireAhead: g.ExpireAhead, Times: waves.Times{Launch: g.LaunchTime, Ready: g.ReadyTime},
	}, f, m.known(f))
}

// terms returns the conditions that a command must meet to be worth it.
func (g *Options) terms() paying.Terms {
	return paying.Terms{
		PayBack: g.PayBack, MinSaving: g.MinSaving, MinSavingShare: g.MinSavingShare, DisruptionPrice: g.DisruptionPrice, Launch: g.LaunchTime,
	}
}

// planner returns the planner that searches the context.
func (g *Options) planner(start *searchcontext.Context) *searching.Planner {
	return &searching.Planner{Context: start, Settings: searching.Settings{
		Limits:    removing.Limits{MaxMembers: g.MaxMembers, MaxNewNodes: g.MaxBins, MaxMerged: g.MaxMerged, DrainLimit: g.DrainLimit},
		Terms:     g.terms(),
		Reference: g.Reference(), Work: g.Work, Parallelism: g.Parallelism, Seed: g.Seed, Checked: g.Checks != 0,
	}}
}

// orderer returns the planner that orders the commands of a search.
func (g *Options) orderer(s *searching.Search) *ordering.Planner {
	return &ordering.Planner{
		Context: s.Context, Terms: g.terms(), Types: s.Types,
		Settings: ordering.Settings{Robustness: g.Robustness, Checks: g.Checks, Seed: g.Seed, MaxNewNodes: g.MaxBins, Reference: g.Reference()},
	}
}
