package global

import (
	"context"
	"reflect"
	"time"

	"github.com/drawknife/drawknife/disruption/decision"
	"github.com/drawknife/drawknife/internal/consolidate/money"
	"github.com/drawknife/drawknife/internal/consolidate/reference"
	"github.com/drawknife/drawknife/internal/consolidate/searchcontext"
	"github.com/drawknife/drawknife/internal/consolidate/searching"
	"github.com/drawknife/drawknife/internal/consolidate/sighting"
	"github.com/drawknife/drawknife/internal/consolidate/survey"
	"github.com/drawknife/drawknife/internal/engine/valuing"
)

// Memory is the data that a plan passes on to the next plan. It is plain data, and is never changed. A nil Memory is empty.
type Memory struct {
	planner Options
	sight   sighting.Sighting
	plan    *reference.Plan
	// until is the time from which the next plan may differ from this plan even if the fleet has not changed. Zero means that there is no
	// such time.
	until time.Time
	// candidates has the candidates by name. The map why has, by a candidate's name, the block that kept the candidate from being
	// consolidated. The field worth has the values of pods.
	candidates map[string]*searchcontext.Candidate
	why        map[string]*decision.Block
	worth      *valuing.KnownWorth
	// looked is the number of checks of nodes, counting repeated checks, since the last plan that was made without a memory.
	looked int
	// reach is a share from 0 to 1: the part of all possible savings that the last plan without a memory achieved. See reachOf.
	reach float64
}

// of reports whether the memory has a plan, and this plan was made with the options g.
func (m *Memory) of(g *Options) bool {
	if m == nil || m.plan == nil {
		return false
	}
	was, is := m.planner, *g
	was.Parallelism, is.Parallelism = 0, 0 // plans do not depend on Parallelism
	return reflect.DeepEqual(was, is)
}

// holds reports whether the memory's plan is still valid at the time now, if the fleet has not changed.
func (m *Memory) holds(now time.Time) bool {
	return m != nil && !now.Before(m.plan.Time) && (m.until.IsZero() || now.Before(m.until))
}

// known returns the part of the memory that is still valid for the fleet. The result is empty for a nil memory. The memory's candidates are
// valid if the fleet was surveyed later than the memory's plan and has the same PodDisruptionBudgets.
func (m *Memory) known(f *survey.Fleet) (out searchcontext.Known) {
	if m == nil {
		return out
	}
	out.Worth = m.worth
	if !f.Now.Before(m.plan.Time) && sighting.Equal(m.sight.Snapshot.PodDisruptionBudgets, f.In.View.Snapshot.PodDisruptionBudgets) {
		out.Candidates = m.candidates
	}
	return out
}

// remember returns the memory of this plan, for the next plan.
func (g *Options) remember(s *searching.Search, sight sighting.Sighting, plan *reference.Plan, looked int) *Memory {
	return &Memory{
		planner: *g, sight: sight, plan: madeAt(plan, plan.Time), until: g.until(s, plan), candidates: s.ByName, why: s.Why(), worth: s.Worth.Known(),
		looked: looked, reach: reachOf(plan),
	}
}

// seeing returns the memory with a later sighting of the fleet, for which the plan has not changed.
func (m *Memory) seeing(sight sighting.Sighting) *Memory {
	return &Memory{
		planner: m.planner, sight: sight, plan: m.plan, until: m.until, candidates: m.candidates, why: m.why, worth: m.worth, looked: m.looked, reach: m.reach,
	}
}

// fact has the properties of a candidate that the method again compares with those of the earlier plan, to find changed candidates.
type fact struct {
	blocked, due, drifts bool
	moving               int
	price                int64
	tie                  string
}

func factOf(c *searchcontext.Candidate) fact {
	return fact{c.Blocked != nil, c.Due, c.Drifts, len(c.Moving), c.NanoPrice, c.Tie.String()}
}

// reachOf returns the total saving of the commands as a share of the largest possible saving, or 0 if nothing can be saved.
func reachOf(p *reference.Plan) float64 {
	most, sum := money.NanoUSD(p.Cost)-money.NanoUSD(p.Floor), int64(0)
	for _, cmd := range p.Commands {
		sum += money.NanoUSD(cmd.Savings)
	}
	if most <= 0 {
		return 0
	}
	return float64(sum) / float64(most)
}

// Looked returns the number of checks of nodes, counting repeated checks, since the last plan that was made without a memory.
func (m *Memory) Looked() int { return m.looked }

// MovesApart compares the memory with the fleet. It returns the names of the nodes whose pods would move differently according to the
// memory, and the number of nodes whose data comes from the memory. If there are such names, the next plan would rely on wrong data.
func (g *Options) MovesApart(ctx context.Context, f *survey.Fleet, m *Memory) (apart []string, known int, err error) {
	with, err := g.context(ctx, f, m)
	if err != nil {
		return nil, 0, err
	}
	without, err := g.context(ctx, f, nil)
	if err != nil {
		return nil, 0, err
	}
	was := m.known(f).Candidates
	for i, c := range with.Candidates {
		if v := without.Candidates[i]; !c.Same(&v.PodMoves) || c.Likeness != v.Likeness {
			apart = append(apart, c.Name)
		}
		if before := was[c.Name]; before != nil && len(before.Moving) > 0 && len(c.Moving) > 0 && &before.Moving[0] == &c.Moving[0] {
			known++
		}
	}
	return apart, known, nil
}
