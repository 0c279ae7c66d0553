package global

import (
	"context"
	"slices"
	"time"

	"github.com/drawknife/drawknife/disruption/decision"
	"github.com/drawknife/drawknife/internal/consolidate/reference"
	"github.com/drawknife/drawknife/internal/consolidate/searchcontext"
	"github.com/drawknife/drawknife/internal/consolidate/searching"
	"github.com/drawknife/drawknife/internal/consolidate/sighting"
	"github.com/drawknife/drawknife/internal/consolidate/survey"
)

// reachLess is the largest accepted decrease of reachOf from the last plan without a memory to a continued plan.
const reachLess = 0.003

// Limits of plans that continue an earlier plan.
const (
	// leastAgain is the smallest number of candidates for which continuing an earlier plan is worth it.
	leastAgain = 100
	// A plan is continued only if at most one in againShare nodes must be checked again.
	againShare = 3
	// againRounds is an average number of checks for each node. When continued plans have made so many checks, the next plan is made
	// without a memory.
	againRounds = 2
)

// PlanAgain makes a plan with the memory of an earlier plan, and returns the memory for the next plan: see disruption.Global.PlanAgain.
func (g *Options) PlanAgain(ctx context.Context, f *survey.Fleet, m *Memory) (*reference.Plan, *Memory, error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	sight := sighting.See(f)
	if !m.of(g) {
		m = nil
	}
	if m.holds(f.Now) && m.sight.Same(&sight) {
		return madeAt(m.plan, f.Now), m.seeing(sight), nil
	}
	if m != nil && (len(f.Candidates) < leastAgain || !m.sight.SameWorld(&sight)) {
		m = nil
	}
	if m != nil {
		plan, next, err := g.continued(ctx, f, m, &sight)
		if err != nil || plan != nil {
			return plan, next, err
		}
	}
	start, err := g.context(ctx, f, nil)
	if err != nil {
		return nil, nil, err
	}
	best, err := g.planner(start).Best(ctx)
	if err != nil {
		return nil, nil, err
	}
	plan, err := g.plan(ctx, best)
	if err != nil {
		return nil, nil, err
	}
	return plan, g.remember(best, sight, plan, 0), nil
}

// continued returns a plan that starts from the memory's plan. It returns nil if too much has changed, or if the new plan is much worse
// than the last plan without a memory (see reachLess).
func (g *Options) continued(ctx context.Context, f *survey.Fleet, m *Memory, sight *sighting.Sighting) (*reference.Plan, *Memory, error) {
	start, err := g.context(ctx, f, m)
	if err != nil {
		return nil, nil, err
	}
	s, looked, err := g.again(ctx, start, m, sight)
	if err != nil || s == nil {
		return nil, nil, err
	}
	plan, err := g.plan(ctx, s)
	if err != nil {
		return nil, nil, err
	}
	if reachOf(plan) < m.reach-reachLess {
		return nil, nil, nil
	}
	next := g.remember(s, *sight, plan, looked)
	next.reach = m.reach
	return plan, next, nil
}

// again continues the search from the memory's plan. It makes the commands of that plan again if they are still possible. Of the remaining
// nodes, it checks the nodes that have changed, and the nodes that may be removable now because other nodes have changed. It returns a nil
// search if too much has changed. The result looked is the number of checks of nodes, counting repeated checks, since the last plan that
// was made without a memory. A pending pod that no longer exists counts as one changed node, because any node may have more free room
// without it.
func (g *Options) again(ctx context.Context, start *searchcontext.Context, m *Memory, sight *sighting.Sighting) (s *searching.Search, looked int, err error) {
	n := len(start.Candidates)
	if n < leastAgain {
		return nil, 0, nil
	}
	changed := m.sight.Changed(sight)
	for _, c := range start.Candidates {
		if was := m.candidates[c.Name]; was == nil || factOf(was) != factOf(c) {
			changed[c.Name] = true
		}
	}
	gone := m.sight.GaveUp(sight, changed)
	tooMany := func(changed int) bool {
		again := changed + gone
		return again > n/againShare || m.looked+again > againRounds*n
	}
	if tooMany(len(changed)) {
		return nil, 0, nil
	}
	from := searching.Earlier{Commands: madeAt(m.plan, start.Fleet.Now).Commands, Why: m.why, Changed: changed}
	s, err = g.planner(start).Again(ctx, from, tooMany)
	return s, m.looked + len(changed) + gone, err
}

// madeAt returns a copy of the plan with the time now. The commands are copies, because the caller modifies the commands that it begins.
func madeAt(p *reference.Plan, now time.Time) *reference.Plan {
	out := *p
	out.Time = now
	out.Commands, out.Verdicts, out.Waves = slices.Clone(p.Commands), slices.Clone(p.Verdicts), slices.Clone(p.Waves)
	again := !now.Equal(p.Time)
	ids := map[string]string{}
	list := make([]decision.Command, len(p.Commands))
	for i, cmd := range p.Commands {
		list[i] = *cmd
		next := &list[i]
		if next.Planned, next.NotBefore = now, now.Add(cmd.NotBefore.Sub(cmd.Planned)); again {
			reference.Identify(next)
			ids[cmd.ID] = next.ID
		}
		out.Commands[i] = next
	}
	if !again {
		return &out
	}
	for i := range out.Verdicts {
		if v := &out.Verdicts[i]; v.Command != "" {
			v.Command = ids[v.Command]
		}
	}
	for i := range out.Waves {
		out.Waves[i].Commands = renamed(out.Waves[i].Commands, ids)
	}
	out.Unsettled = renamed(p.Unsettled, ids)
	return &out
}

func renamed(list []string, ids map[string]string) []string {
	out := slices.Clone(list)
	for i := range out {
		out[i] = ids[out[i]]
	}
	return out
}
