package searching

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/drawknife/drawknife/disruption/decision"
	"github.com/drawknife/drawknife/internal/consolidate/allowedtypes"
	"github.com/drawknife/drawknife/internal/consolidate/components"
	"github.com/drawknife/drawknife/internal/consolidate/paying"
	"github.com/drawknife/drawknife/internal/consolidate/reference"
	"github.com/drawknife/drawknife/internal/consolidate/removing"
	"github.com/drawknife/drawknife/internal/consolidate/searchcontext"
)

// Settings say how searches work. disruption.Global explains each setting. All values are used as given, so 0 does not stand for a default.
type Settings struct {
	Limits    removing.Limits
	Terms     paying.Terms
	Reference *reference.Options
	// Work is the largest number of what-ifs that a search may use.
	Work        int
	Parallelism int
	Seed        uint64
	// Checked means that the plan is checked with provisioning's planner before it is returned.
	Checked bool
}

// Planner searches the context for a plan.
type Planner struct {
	*searchcontext.Context
	Settings
}

// Best runs each strategy, and refines the best result.
func (p *Planner) Best(ctx context.Context) (*Search, error) {
	best, err := p.best(ctx)
	if err != nil {
		return nil, err
	}
	return best, refining{best}.all(ctx)
}

// best runs all strategies and chooses the best search, according to Search.better. If several searches are equally good, it chooses the
// search whose strategy comes first in the list of strategies. It passes this search to withinBudgets and returns the result.
func (p *Planner) best(ctx context.Context) (*Search, error) {
	list := p.strategies()
	done, errs := make([]*Search, len(list)), make([]error, len(list))
	var next atomic.Int32
	var all sync.WaitGroup
	for range min(p.Parallelism, len(list)) {
		all.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(list); i = int(next.Add(1)) - 1 {
				done[i], errs[i] = p.search(ctx, list[i])
			}
		})
	}
	all.Wait()
	var best *Search
	for i, s := range done {
		if errs[i] != nil {
			return nil, errs[i]
		}
		if best == nil || s.better(best) {
			best = s
		}
	}
	return p.withinBudgets(ctx, best)
}

// few reports whether there are at most removing.FewCandidates candidates. If so, the search tries all sets of some of these candidates
// (see groups.bestSubset).
func (p *Planner) few() bool { return len(p.Candidates) <= removing.FewCandidates }

// thorough reports whether the search also uses the strategies wholeGroups and merged, and may restrict new nodes to one zone. The checks
// with provisioning's planner (Settings.Checked) seldom accept commands with many nodes, or with nodes restricted to one zone. So plans
// with these checks don't try such commands.
func (p *Planner) thorough() bool { return !p.Many() && !p.Checked }

// search runs one strategy to its end.
func (p *Planner) search(ctx context.Context, st strategy) (*Search, error) {
	s, err := p.begin(ctx, st)
	if err == nil {
		err = s.run(ctx)
	}
	return s, err
}

// begin returns a search that has not decided anything yet.
func (p *Planner) begin(ctx context.Context, st strategy) (*Search, error) {
	pass, err := p.Reference.Begin(ctx, p.Fleet)
	if err != nil {
		return nil, err
	}
	for _, m := range decision.Methods() {
		pass.Blocks[m] = map[string]*decision.Block{}
	}
	t, err := p.Context.Begin(ctx)
	if err != nil {
		return nil, err
	}
	s := &Search{
		attempts: attempts{
			Trier: removing.Trier{
				Context: p.Context, Limits: p.Limits, Terms: p.Terms, Trial: t, Types: allowedtypes.New(pass, p.thorough()), Components: components.New(),
				Conditions: removing.Conditions{Few: p.few()},
			},
			decided: newDecided(), most: p.Work, tried: map[uint64]bool{},
		},
		settings: p.Settings, start: t.Mark(), considered: p.Candidates,
	}
	s.follow(st)
	return s, nil
}
