package searching

import (
	"context"
	"slices"

	"github.com/drawknife/drawknife/disruption/decision"
	"github.com/drawknife/drawknife/internal/consolidate/pseudorandom"
	"github.com/drawknife/drawknife/internal/consolidate/removing"
	"github.com/drawknife/drawknife/internal/consolidate/searchcontext"
	"github.com/drawknife/drawknife/internal/engine/trial"
)

// attempts tries to remove groups of nodes, and accepts the removals that are worth it. It remembers failed attempts in the fields tried
// and failed.
type attempts struct {
	removing.Trier
	decided
	// most is the largest number of what-ifs that the search may use. The counter of used what-ifs is Effort.Work.
	most int
	// round is the number of the refinement round, from 0. tried has the keys of removals that failed with the present state of their
	// members: see worthTrying and groupKey.
	round int
	tried map[uint64]bool
	// failed caches attempts that failed since the last step. It is used only if there are few candidates (Few).
	failed failures
	// scouts try groups before the search reaches them. The field is nil if the search has no scouts. found is the finding of a scout about
	// the group that is tried now. It is nil if no scout has a finding about this group.
	scouts *scouts
	found  *finding
}

// tryGroup tries to consolidate the group. If that is not possible, it records the block: see keep.
func (a *attempts) tryGroup(ctx context.Context, group []*searchcontext.Candidate, where removing.Places) error {
	return a.tryRemoval(ctx, removing.Consolidating(group, where))
}

// tryRemoval is like tryGroup, but for a given removal instead of a group.
func (a *attempts) tryRemoval(ctx context.Context, r removing.Removal) error {
	if !a.worthTrying(r) {
		return nil
	}
	a.Withheld = false
	why, err := a.attempt(ctx, r)
	if err != nil || why == nil {
		return err
	}
	a.noteTried(r)
	a.keep(r.Members, r.Where, why)
	return nil
}

// noteTried records in tried that the removal failed. It does nothing before refinement, or if Withheld is true.
func (a *attempts) noteTried(r removing.Removal) {
	if a.Refining && !a.Withheld {
		a.tried[a.groupKey(r)] = true
	}
}

// attempt executes the removal and accepts it as a step if it is worth it. If the removal is not possible or not worth it, attempt leaves
// the trial unchanged and returns the block.
func (a *attempts) attempt(ctx context.Context, r removing.Removal) (*decision.Block, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if a.Work++; a.Work > a.most && r.Method != decision.MethodDrift {
		a.Types.Waiting = true
		return &decision.Block{Code: decision.BlockNotReached}, nil
	}
	if a.found != nil {
		a.Work, a.Withheld = a.Work+a.found.Work, a.found.Withheld
		return a.found.why, nil
	}
	if why := a.Admissible(r); why != nil {
		return why, nil
	}
	if !a.Few {
		return a.attemptNew(ctx, r)
	}
	asked := a.attemptKey(r)
	if known := a.failed.of(asked); known != nil {
		a.Withheld = a.Withheld || known.withheld
		return known.why, nil
	}
	why, err := a.attemptNew(ctx, r)
	if err == nil && why != nil {
		a.failed.note(asked, failure{why, a.Withheld})
	}
	return why, err
}

// attemptNew does the same as attempt, but does not use cached results: neither the cache of failed attempts nor the findings of scouts.
func (a *attempts) attemptNew(ctx context.Context, r removing.Removal) (*decision.Block, error) {
	mark := a.Trial.Mark()
	st, why, err := a.TryWithin(ctx, r, mark)
	if err == nil && why == nil {
		why = a.Take(st)
	}
	if err != nil || why != nil {
		if back := a.Trial.Rollback(mark); back != nil && err == nil {
			err = back
		}
		return why, err
	}
	tried := a.Conditions
	tried.Ungrown = st.Ungrown
	a.scouts.note(change{conditions: tried, removal: r, newNodes: a.Trial.NewNodes()})
	a.accept(st, mark)
	return nil, nil
}

// accept accepts the step st. The trial's changes since the mark are the execution of this step.
func (a *attempts) accept(st *removing.Step, since trial.Mark) {
	names := a.Trial.Receivers(since)
	receivers := make([]*searchcontext.Candidate, 0, len(names))
	for _, name := range names {
		if c := a.ByName[name]; c != nil {
			receivers = append(receivers, c)
		}
	}
	a.Accept(st, receivers)
	a.noteStep(st, receivers, a.Refining)
	a.failed.forget()
}

// worthTrying reports whether the removal should be tried. Before refinement, it always returns true. During refinement it returns false if
// some strategy has tried the same members and places without success and no member has received pods since then. At the end of refinement,
// the set tried is cleared, so that all groups are tried again. If the search has too many candidates to try all groups again (Many), tried
// is not cleared. Refinement rounds after the first then only try groups with a member that is new or has received pods. Other groups need
// no second attempt, because all other changes have only reduced free room, or have opened new nodes that are candidates themselves. If the
// search has few candidates (Few), worthTrying always returns true. Unless Many is true, it also returns true for removals that use only
// free room.
func (a *attempts) worthTrying(r removing.Removal) bool {
	many := a.Many()
	switch {
	case !a.Refining || a.Few:
		return true
	case r.Where == removing.OnlyRoom && !many:
		return true
	case many && a.round > 0 && !slices.ContainsFunc(r.Members, func(c *searchcontext.Candidate) bool { return a.changed[identityOf(c)] > 0 }):
		return false
	}
	return !a.tried[a.groupKey(r)]
}

// groupKey returns a hash of the removal. The hash depends on its members, on how often they have received pods, and on where their pods
// may go.
func (a *attempts) groupKey(r removing.Removal) uint64 {
	sum := uint64(r.Where)
	if r.Way != nil {
		sum += uint64(r.Way.Number) << 32
	}
	for _, c := range r.Members {
		id := identityOf(c)
		mixed := pseudorandom.Source(uint64(id.node)<<40 ^ uint64(id.planned)<<16 ^ uint64(a.changed[id]))
		sum += mixed.Draw()
	}
	return sum
}
