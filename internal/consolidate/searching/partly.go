package searching

import (
	"context"
	"slices"

	"github.com/drawknife/drawknife/disruption/decision"
	"github.com/drawknife/drawknife/internal/consolidate/searchcontext"
)

// Limits of searches of part of a fleet.
const (
	// leastAgain is the least number of what-ifs for checking nodes again. It does not apply if there are too many candidates (Many).
	leastAgain = 4000
	// workAgain is the number of what-ifs for each node that is checked again.
	workAgain = 8
)

// recall gives unchanged candidates the blocks that they had in the earlier plan. It adds two kinds of candidates to the set changed. Some
// have a block that may have ended, because it depends on time, budgets or other nodes. Others had no block and have not received pods.
func (s redo) recall(reasons map[string]*decision.Block, changed map[string]bool) {
	for _, c := range s.Candidates {
		if c.Blocked != nil || s.gone[c] || changed[c.Name] {
			continue
		}
		why := reasons[c.Name]
		if why == nil {
			if !s.fixed[c] {
				changed[c.Name] = true
			}
			continue
		}
		switch causeOf(why).Code {
		case decision.BlockLater, decision.BlockNotReached, decision.BlockRobustness, decision.BlockBudget, decision.BlockDrain, decision.BlockDependsOnUninitialized:
			changed[c.Name] = true
		default:
			s.why[c.Name] = why
		}
	}
}

// lookAt consolidates the named nodes as refinement does. If there are too many candidates (Many), it only tries each node alone. If not,
// it also tries groups and all strategies.
func (s redo) lookAt(ctx context.Context, names map[string]bool) error {
	s.partly, s.Refining, s.Strict = true, true, true
	s.most = min(s.most, s.Work+workAgain*len(names))
	list, consolidate := []strategy{usual()}, s.eachAlone
	if !s.Many() {
		list, consolidate = strategies(), s.consolidate
		s.most = min(s.settings.Work, max(s.most, s.Work+leastAgain))
	}
	for i, idle := 0, 0; idle < len(list) && s.Work <= s.most; i++ {
		before := len(s.steps)
		s.follow(list[i%len(list)])
		s.round = i
		if err := s.release(); err != nil {
			return err
		}
		s.considered = slices.DeleteFunc(s.considered, func(c *searchcontext.Candidate) bool { return !c.Planned && !names[c.Name] })
		if err := consolidate(ctx); err != nil {
			return err
		}
		if idle++; len(s.steps) > before && len(list) > 1 {
			idle = 0
		}
	}
	return nil
}

// eachAlone does the same as consolidate, but tries single nodes only. The exception are nodes that must be removed together: they are
// tried as a group.
func (s redo) eachAlone(ctx context.Context) error {
	if err := s.removeTied(ctx); err != nil {
		return err
	}
	if err := s.removeSingly(ctx); err != nil {
		return err
	}
	return s.replaceSingly(ctx)
}
