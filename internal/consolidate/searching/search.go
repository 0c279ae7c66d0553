package searching

import (
	"cmp"
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/disruption/decision"
	"github.com/drawknife/drawknife/internal/consolidate/money"
	"github.com/drawknife/drawknife/internal/consolidate/removing"
	"github.com/drawknife/drawknife/internal/consolidate/searchcontext"
	"github.com/drawknife/drawknife/internal/engine/trial"
)

// Search looks for a plan by one strategy at a time. It chooses groups of nodes, and its attempts decide which of these groups are removed.
// It is not safe for concurrent use.
type Search struct {
	attempts
	settings Settings
	strategy strategy
	// start is the mark of the trial before the first attempt.
	start trial.Mark
	// considered are the candidates that the search may remove. At first these are all candidates of the context. During refinement these
	// are the remaining candidates, and new nodes as candidates: see release.
	considered []*searchcontext.Candidate
	// partly means that the search looks at only part of the fleet: see redo.lookAt.
	partly bool
	// released is the number of accepted steps when the method release last ran.
	released int
	near     []drawnCandidate // scratch of drawGroup
}

// follow sets the strategy of the search.
func (s *Search) follow(st strategy) { s.strategy, s.Subsets = st, st.subsets }

// better reports whether the search's result is better than the result of other. If their values are equal, the search that moves fewer
// pods is better.
func (s *Search) better(other *Search) bool {
	return cmp.Or(cmp.Compare(s.value, other.value), cmp.Compare(other.pods(), s.pods())) > 0
}

// run first removes the nodes that every plan removes. Then it calls the function prepare of the strategy, and then consolidates.
func (s *Search) run(ctx context.Context) error {
	if err := s.removeUnneeded(ctx); err != nil {
		return err
	}
	if s.strategy.prepare != nil {
		if err := s.strategy.prepare(ctx, s); err != nil {
			return err
		}
	}
	return s.consolidate(ctx)
}

// removeUnneeded removes the nodes that every plan removes, whatever the strategy: empty and drifted nodes.
func (s *Search) removeUnneeded(ctx context.Context) error {
	if err := s.removeEmpty(ctx); err != nil {
		return err
	}
	return s.removeDrifted(ctx)
}

// consolidate removes and replaces nodes to save money.
func (s *Search) consolidate(ctx context.Context) error {
	g := groups{s}
	for _, part := range []struct {
		wanted bool
		of     func(context.Context) error
	}{
		{s.strategy.subsets, g.bestSubset},
		{s.strategy.merged, g.mergeMany},
		{s.strategy.wholeGroups, g.exchangeWhole},
		{s.strategy.rebuild, g.rebuild},
		{len(s.Fleet.Ties) > 0, s.removeTied},
		{true, s.removeSingly},
		{true, s.replaceSingly},
		{!s.Refining || !s.Many(), g.exchange}, // if there are too many candidates (Many), refinement draws no groups at random; the next plan does
	} {
		if !part.wanted {
			continue
		}
		if err := part.of(ctx); err != nil {
			return err
		}
	}
	return nil
}

// removeEmpty removes two kinds of nodes: nodes without pods that must move, and drifted nodes of static pools.
func (s *Search) removeEmpty(ctx context.Context) error {
	for _, m := range []decision.Method{decision.MethodEmptiness, decision.MethodStaticDrift} {
		accepted := s.Accepted[m]
		if len(accepted) == 0 {
			continue
		}
		commands, err := s.Types.Run(ctx, m, accepted)
		if err != nil {
			return err
		}
		for _, cmd := range commands {
			s.made = append(s.made, cmd)
			for i := range cmd.Members {
				c := s.ByName[cmd.Members[i].Node]
				if _, err := s.Trial.HideMoving(c.Name, stays); err != nil {
					return err
				}
				s.gone[c] = true
				s.value += s.WorthOf(c.NanoPrice, 0)
			}
		}
	}
	return nil
}

// stays is the function Moves for nodes whose pods all stay: it returns false for each pod.
func stays(*corev1.Pod) bool { return false }

// removeDrifted removes drifted nodes in the order of Fleet.DriftOrder, even if this saves nothing.
func (s *Search) removeDrifted(ctx context.Context) error {
	for _, from := range s.Fleet.DriftOrder(s.Accepted[decision.MethodDrift]) {
		group := s.WithTied(s.ByName[from.Name])
		if slices.ContainsFunc(group, func(c *searchcontext.Candidate) bool { return !s.open(c) }) {
			for _, c := range group {
				if s.fixed[c] {
					s.Types.Block(decision.MethodDrift, c.Candidate, &decision.Block{Code: decision.BlockReceiver})
				}
			}
			continue
		}
		batch := searchcontext.Surveyed(group)
		why := s.Types.DriftsNot(batch)
		if why == nil {
			var err error
			if why, err = s.driftTied(ctx, group); err != nil {
				return err
			}
		}
		if why != nil {
			s.Types.BlockAll(decision.MethodDrift, batch, s.Fleet.TieOf(from.Name), why)
		}
	}
	return nil
}

// removeSingly tries to remove single nodes whose pods all have room on other nodes.
func (s *Search) removeSingly(ctx context.Context) error {
	return s.tryEach(ctx, &singly{s.free(), removing.OnlyRoom})
}

// replaceSingly tries to replace single nodes. Pods that have no room on other nodes get a new node, which must cost less than the old
// node.
func (s *Search) replaceSingly(ctx context.Context) error {
	return s.tryEach(ctx, &singly{s.free(), removing.UseRoom})
}

// tryEach tries one group after another. After a few unsuccessful attempts, it starts the scouts, if the search has scouts.
func (s *Search) tryEach(ctx context.Context, list series) error {
	look := lookahead{s: s, rest: list}
	defer s.scouts.rest()
	for taken := false; ; {
		t, found, more := look.next(ctx, taken)
		if !more || t.bounded && s.Work > s.most {
			return nil
		}
		before, work := len(s.steps), s.Work
		s.found = found
		err := s.tryGroup(ctx, t.group, t.where)
		s.found = nil
		if err != nil {
			return err
		}
		if taken = len(s.steps) > before; taken || s.Work > work {
			look.came(taken)
		}
	}
}

// free returns the candidates that can still be consolidated and that can be removed alone (they belong to no survey.Tie). Due candidates
// come first. Within both groups, candidates are sorted by descending saving per unit of disturbance, with free room priced at the
// strategy's roomWeight.
func (s *Search) free() []*searchcontext.Candidate {
	var out []*searchcontext.Candidate
	for _, c := range s.considered {
		if c.Blocked == nil && c.Tie == nil && s.open(c) {
			out = append(out, c)
		}
	}
	s.sort(out)
	return out
}

func (s *Search) sort(list []*searchcontext.Candidate) {
	key := func(c *searchcontext.Candidate) int64 {
		return int64(float64(c.NanoPrice-s.worthOn(c)/1000*s.strategy.roomWeight) / c.Cost)
	}
	rank := func(c *searchcontext.Candidate) int {
		if c.Due {
			return 0
		}
		return 1
	}
	slices.SortFunc(list, func(a, b *searchcontext.Candidate) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(key(b), key(a)), cmp.Compare(a.Cost, b.Cost), cmp.Compare(a.Name, b.Name))
	})
}

// worthOn returns the value of the pods on the candidate, including received pods, in nano-USD per hour.
func (s *Search) worthOn(c *searchcontext.Candidate) int64 {
	return c.PodWorth + money.NanoUSD(s.Received[c].Worth)
}

// waste returns the candidate's price minus the value of its pods, in nano-USD per hour.
func (s *Search) waste(c *searchcontext.Candidate) int64 { return c.NanoPrice - s.worthOn(c) }
