package disruption

import (
	"context"
	"reflect"
	"slices"
	"time"

	"github.com/drawknife/drawknife/api/option"
	"github.com/drawknife/drawknife/scheduling"
)

// Memory is what a plan of Global leaves for the next one: what it was made of, its commands, and why each other node stays. It
// is plain data that nobody changes: hand it to PlanAgain of the same Global with a later Fleet, and keep what that returns in
// its stead. A nil Memory and a zero one remember nothing; one may be forgotten at any time, and may be used by several
// goroutines. Its size goes by the last fleet and its plan and not by how many plans there were: an entry for each node, the
// plan itself, and the objects of the fleet's snapshot, which it holds on to. It relies on it that, as scheduling.Snapshot asks,
// objects are not changed after they were handed in.
type Memory struct {
	planner Global
	sight   sighting
	plan    *Plan
	// until is when time alone may make the plan another one; zero for never.
	until time.Time
	// units are the candidates, why is what kept them from being consolidated; by name. worth is what pods were worth.
	units map[string]*unit
	why   map[string]*Block
	worth *scheduling.KnownWorth
	// looked is how often nodes were looked at again since a plan was made from nothing.
	looked int
	// reach is what that plan found of all that there may be: see Plan.reach.
	reach float64
}

// PlanAgain is Plan with what an earlier plan remembers, and what is to be remembered of this one. While nothing has changed that
// matters, commands and verdicts are those of the plan before, with the times and IDs of now. After a small change, commands
// whose nodes are as they were are kept, if they are still sound, sure to pay, and within budgets, and so is what keeps other
// nodes; nodes that have changed, and those that had to do with them, are looked at again. After a large one, for small fleets,
// after a change of prices, pools or options, and now and then, all is planned from nothing, as by Plan; so it is with a nil
// Memory. Plans with a Memory may differ from plans without, and are not worth notably less; the same fleet, options and
// memory give the same plan, byte for byte. The memory that is handed in is not changed. An error comes with no memory: the one
// before is still good.
func (g *Global) PlanAgain(ctx context.Context, fleet *Fleet, m *Memory) (*Plan, *Memory, error) {
	if ctx == nil {
		return nil, nil, option.Missing("Global.PlanAgain", "the context")
	}
	f := fleet.seen()
	if f == nil {
		return nil, nil, option.Missing("Global.PlanAgain", "a fleet that Survey made")
	}
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	sight := see(f)
	if !m.of(g) {
		m = nil
	}
	if m.holds(f.now) && m.sight.same(&sight) {
		return m.plan.at(f.now), m.seeing(sight), nil
	}
	if m != nil && (len(f.Candidates) < leastAgain || !m.sight.sameWorld(&sight)) {
		m = nil
	}
	ground, err := g.newGround(ctx, f, m)
	if err != nil {
		return nil, nil, err
	}
	var best *search
	looked := 0
	if m != nil {
		if best, looked, err = ground.again(ctx, m, &sight); err != nil {
			return nil, nil, err
		}
	}
	if best != nil {
		plan, err := best.plan(ctx)
		if err != nil {
			return nil, nil, err
		}
		if share := plan.reach(); share >= m.reach-reachLess {
			next := best.remember(sight, plan, looked)
			next.reach = m.reach
			return plan, next, nil
		}
	}
	if m != nil {
		if ground, err = g.newGround(ctx, f, nil); err != nil {
			return nil, nil, err
		}
	}
	if best, err = ground.fromNothing(ctx); err != nil {
		return nil, nil, err
	}
	plan, err := best.plan(ctx)
	if err != nil {
		return nil, nil, err
	}
	return plan, best.remember(sight, plan, 0), nil
}

// reachLess is how much less of what there is to be found a plan may find than the last that was made from nothing.
const reachLess = 0.003

// reach is what the commands save of what fleets with the same pods could cost less at most; 0 where nothing could be saved.
func (p *Plan) reach() float64 {
	most, sum := nanoUSD(p.Cost)-nanoUSD(p.Floor), int64(0)
	for _, cmd := range p.Commands {
		sum += nanoUSD(cmd.Savings)
	}
	if most <= 0 {
		return 0
	}
	return float64(sum) / float64(most)
}

// fromNothing goes all ways, and refines the best.
func (g *ground) fromNothing(ctx context.Context) (*search, error) {
	best, err := g.searchAll(ctx)
	if err != nil {
		return nil, err
	}
	return best, best.refine(ctx)
}

// of reports whether the memory is one of a plan by the same options.
func (m *Memory) of(g *Global) bool {
	return m != nil && m.plan != nil && reflect.DeepEqual(m.planner, *g)
}

// holds reports whether time alone has not made the plan another one.
func (m *Memory) holds(now time.Time) bool {
	return m != nil && !now.Before(m.plan.Time) && (m.until.IsZero() || now.Before(m.until))
}

// fact is what decides which parts of a plan a candidate may be in.
type fact struct {
	blocked, due, drifts bool
	moving               int
	price                int64
}

func (u *unit) fact() fact {
	return fact{u.blocked != nil, u.due, u.drifts, len(u.moving), u.price}
}

// remember is what the next plan needs of this one.
func (s *search) remember(sight sighting, plan *Plan, looked int) *Memory {
	return &Memory{
		planner: *s.Global, sight: sight, plan: plan.at(plan.Time), until: s.until(plan), units: s.byName, why: s.why, worth: s.worth.Known(),
		looked: looked, reach: plan.reach(),
	}
}

// seeing is the memory with another look at a fleet that gives the same plan.
func (m *Memory) seeing(sight sighting) *Memory {
	return &Memory{planner: m.planner, sight: sight, plan: m.plan, until: m.until, units: m.units, why: m.why, worth: m.worth, looked: m.looked, reach: m.reach}
}

// knownWorth is what pods were worth; nil for a nil memory.
func (m *Memory) knownWorth() *scheduling.KnownWorth {
	if m == nil {
		return nil
	}
	return m.worth
}

// knownUnits are the candidates of the memory if the fleet is a later one with the same PodDisruptionBudgets; nil for a nil memory.
func (m *Memory) knownUnits(f *picture) map[string]*unit {
	if m == nil || f.now.Before(m.plan.Time) || !equal(m.sight.snapshot.PodDisruptionBudgets, f.in.View.Snapshot.PodDisruptionBudgets) {
		return nil
	}
	return m.units
}

// at is the same plan made at another time. Whoever begins commands writes in them, so they are copies.
func (p *Plan) at(now time.Time) *Plan {
	out := *p
	out.Time = now
	out.Commands, out.Verdicts, out.Waves = slices.Clone(p.Commands), slices.Clone(p.Verdicts), slices.Clone(p.Waves)
	again := !now.Equal(p.Time)
	ids := map[string]string{}
	list := make([]Command, len(p.Commands))
	for i, cmd := range p.Commands {
		list[i] = *cmd
		next := &list[i]
		if next.Planned, next.NotBefore = now, now.Add(cmd.NotBefore.Sub(cmd.Planned)); again {
			identify(next)
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
