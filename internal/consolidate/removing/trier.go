package removing

import (
	"context"

	"github.com/drawknife/drawknife/disruption/decision"
	"github.com/drawknife/drawknife/internal/consolidate/allowedtypes"
	"github.com/drawknife/drawknife/internal/consolidate/components"
	"github.com/drawknife/drawknife/internal/consolidate/paying"
	"github.com/drawknife/drawknife/internal/consolidate/searchcontext"
	"github.com/drawknife/drawknife/internal/engine/placing"
	"github.com/drawknife/drawknife/internal/engine/trial"
)

// Trier tries to remove groups of nodes on a trial. It is not safe for concurrent use. Several triers may share all data except their
// trials and types, as long as no step is accepted.
type Trier struct {
	*searchcontext.Context
	Limits
	paying.Terms
	Trial *searchcontext.WhatIf
	// Types finds the instance types of new nodes. It also has the pass with the budgets.
	Types      *allowedtypes.Finder
	Components *components.Components
	Conditions
	Effort
	// fullCost is the cost of the new nodes of the last full placement, in nano-USD per hour.
	fullCost int64
	roots    []*searchcontext.Candidate // scratch of union
}

// Effort counts the work of trying groups.
type Effort struct {
	// Work is the number of what-ifs made so far.
	Work int
	// Withheld means that Conditions.Strict may be the reason why a group was not consolidated.
	Withheld bool
}

// Apart returns a trier for another goroutine, with a copy of the present trial.
func (t *Trier) Apart() *Trier {
	return &Trier{
		Context: t.Context, Limits: t.Limits, Terms: t.Terms, Trial: t.Trial.Clone(), Types: t.Types.Apart(), Components: t.Components, Conditions: t.Conditions,
	}
}

// TryWithin tries the removal within the limits of a command. If it returns no block, the trial contains the step.
func (t *Trier) TryWithin(ctx context.Context, r Removal, mark trial.Mark) (*Step, *decision.Block, error) {
	st, why, err := t.tryBounded(ctx, r, mark)
	if err != nil || why != t.Components.TooLarge || st == nil || len(st.Grown) == 0 || t.Many() {
		return st, why, err
	}
	if err := t.Trial.Rollback(mark); err != nil {
		return nil, nil, err
	}
	t.Work++
	t.Ungrown = true
	defer func() { t.Ungrown = false }()
	if st, why, err = t.tryBounded(ctx, r, mark); why != nil {
		why = t.Components.TooLarge // the group's pods have places, but the group's component would be too large for one command
	}
	return st, why, err
}

// tryBounded tries the removal r. During refinement it returns a block if the step's component would remove or launch more nodes than a
// command may: see tooLarge.
func (t *Trier) tryBounded(ctx context.Context, r Removal, mark trial.Mark) (*Step, *decision.Block, error) {
	st, why, err := t.Try(ctx, r, mark)
	if err == nil && why == nil {
		why = t.tooLarge(st)
	}
	return st, why, err
}

// Try executes the removal on the trial and finds places for its pods. mark must be the present state of the trial.
func (t *Trier) Try(ctx context.Context, r Removal, mark trial.Mark) (*Step, *decision.Block, error) {
	st := &Step{Exchange: paying.Exchange{Method: r.Method, Members: r.Members}, Where: r.Where, Ungrown: t.Ungrown}
	first := t.Trial.NewNodes()
	for _, c := range r.Members {
		pods, err := t.hide(c, r.Way)
		if err != nil {
			return nil, nil, err
		}
		st.Pods += pods
	}
	left := st.Pods
	if r.Where.room() {
		left = placing.Of(t.Trial.Trial).Move(t.Query)
		if left > 0 && t.Refining && !t.Ungrown {
			left = placing.Of(t.Trial.Trial).Fill(t.Query)
		}
	}
	if left > 0 {
		if why, err := t.open(ctx, st, left, first, mark); err != nil || why != nil {
			return nil, why, err
		}
	}
	if t.Refining {
		st.Grown = t.Trial.Grown(mark)
	}
	return st, t.Weigh(t.Types.Pass, &st.Exchange), nil
}

// open opens new nodes for the given number of waiting pods, and restricts them to their allowed types.
func (t *Trier) open(ctx context.Context, st *Step, waiting, first int, mark trial.Mark) (*decision.Block, error) {
	if why := t.Awaited(t.Trial); why != nil {
		return why, nil
	}
	why, err := t.launch(ctx, st.Where, t.Most(st.Method, st.Members, searchcontext.PriceOf(st.Members)), waiting)
	if err != nil || why != nil {
		return why, err
	}
	limit := t.Types.ToTry()
	planned := t.Trial.Written.Planned(mark, limit)
	if most := t.mostNewNodes(st.Where, len(st.Members)); len(planned) > most && st.Method != decision.MethodDrift {
		return &decision.Block{Code: decision.BlockManyNodes, Count: len(planned), Need: most}, nil
	}
	// During refinement, t.Strict divides the permitted cost into shares in proportion to the nodes' prices. If it did not, one step could
	// use up the whole permitted cost of its component, and no further step could join the component.
	if why := t.Narrow(t.Types, &st.Exchange, planned, limit, t.Strict); why != nil {
		t.Withheld = t.Withheld || t.Strict && len(planned) > 1
		return why, nil
	}
	st.Numbers = t.Trial.Filled(first)
	return nil, nil
}

// hide removes the candidate from the trial. It returns the number of the candidate's pods that now need a place.
func (t *Trier) hide(c *searchcontext.Candidate, way *trial.GangWay) (pods int, err error) {
	if c.Planned {
		return t.Trial.Drop(c.Number)
	}
	if _, err := trial.GangsOf(t.Trial.Trial).HideIn(c.Name, c.Moves, way); err != nil {
		return 0, err
	}
	return len(c.Moving) + t.Received[c].Pods, nil
}

// Take reserves disruption budget for all removed nodes. If a budget has no room for one of them, it reserves nothing.
func (t *Trier) Take(st *Step) *decision.Block {
	_, why := t.Types.Budgets.TakeAll(searchcontext.Surveyed(searchcontext.Existing(st.Members)), st.Method.Reason())
	return why
}

// Accept joins the step's members, and the candidates that share new nodes with them, into one component. It also records which nodes
// received the members' pods.
func (t *Trier) Accept(st *Step, receivers []*searchcontext.Candidate) {
	roots, size := t.union(st.Members, t.Components.Sharing(st.Members, st.Numbers, st.Grown))
	t.Components.Join(roots, size, st.Numbers)
	for _, c := range receivers {
		t.Components.Receive(c, st.Members)
	}
}
