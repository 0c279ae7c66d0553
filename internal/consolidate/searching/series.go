package searching

import (
	"github.com/drawknife/drawknife/internal/consolidate/removing"
	"github.com/drawknife/drawknife/internal/consolidate/searchcontext"
)

// groupToTry is a group that is to be tried, and where its pods may go. A bounded one is left, with all after it, once the search has
// made as many what-ifs as it may.
type groupToTry struct {
	group   []*searchcontext.Candidate
	where   removing.Places
	bounded bool
}

// series are groups to try one after another. Which comes next depends on the search, and on nothing that trying without success changes.
type series interface {
	// next is the next group; taken says that the last one became a step.
	next(s *Search, taken bool) (t groupToTry, more bool)
	// clone is the rest of the series as it is now.
	clone() series
}

// singly are the candidates by themselves.
type singly struct {
	list  []*searchcontext.Candidate
	where removing.Places
}

func (l *singly) clone() series { out := *l; return &out }

func (l *singly) next(s *Search, _ bool) (t groupToTry, more bool) {
	for len(l.list) > 0 {
		c := l.list[0]
		l.list = l.list[1:]
		if s.open(c) {
			return groupToTry{group: []*searchcontext.Candidate{c}, where: l.where}, true
		}
	}
	return t, false
}

// rebuilt are the first candidates of the list together, as many as are exchanged at once, then half as many, and so on: the next in the list
// once that becomes a step, or not even the first one does by itself.
type rebuilt struct {
	list []*searchcontext.Candidate
	// last is how many were tried last; 0 for none of the list as it is.
	last int
	// begun says that some were tried.
	begun bool
}

func (l *rebuilt) clone() series { out := *l; return &out }

func (l *rebuilt) next(s *Search, taken bool) (t groupToTry, more bool) {
	n := l.last / 2
	if taken || l.last == 1 {
		l.list, n = l.list[l.last:], 0
	}
	first := n == 0
	if first {
		n = min(s.Exchanged(), len(l.list))
	}
	if l.last = n; n == 0 {
		return t, false
	}
	t = groupToTry{group: l.list[:n:n], where: removing.OnlyNew, bounded: first && l.begun}
	l.begun = true
	return t, true
}

// drawnGroups are groups of seeds with partners, a few for each: see exchangeGroups.
type drawnGroups struct {
	list []*searchcontext.Candidate
	// at is the seed, draw the number of its next group.
	at, draw int
}

func (l *drawnGroups) clone() series { out := *l; return &out }

func (l *drawnGroups) next(s *Search, taken bool) (t groupToTry, more bool) {
	if taken {
		l.at, l.draw = l.at+1, 0
	}
	bounded := false
	for ; l.at < len(l.list); l.at, l.draw = l.at+1, 0 {
		bounded = bounded || l.draw == 0
		if seed := l.list[l.at]; !s.open(seed) || l.draw == groupDraws {
			continue
		}
		if group := s.drawGroup(l.list, l.at, l.draw); len(group) > 1 {
			l.draw++
			return groupToTry{group, removing.UseRoom, bounded}, true
		}
	}
	return t, false
}
