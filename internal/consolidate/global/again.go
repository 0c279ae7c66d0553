package global

import (
	"context"

	"github.com/drawknife/drawknife/internal/consolidate/searchcontext"
	"github.com/drawknife/drawknife/internal/consolidate/searching"
	"github.com/drawknife/drawknife/internal/consolidate/sighting"
)

// Numbers of plans that begin with an earlier one.
const (
	// leastAgain is how many candidates a fleet has for which that is worth it.
	leastAgain = 100
	// againShare is which part of the nodes, one in so many, may have to be looked at again.
	againShare = 3
	// againRounds is how often on average each node is looked at again until all is planned from nothing.
	againRounds = 2
)

// again searches on from what the memory has: commands whose nodes are as they were are made once more, and what is left of the
// nodes that have changed or had to do with these is consolidated. Nil where too much has changed. looked is how often nodes were
// looked at again since all was planned from nothing; a pod that waited and is gone counts as one, as it may have left room on any.
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
