package searching

import (
	"github.com/drawknife/drawknife/internal/consolidate/removing"
	"github.com/drawknife/drawknife/internal/consolidate/searchcontext"
)

// groupToTry is a group that the search tries to remove, and the places where its pods may go. If bounded is true, the search ends before
// this group if it has used up its what-ifs.
type groupToTry struct {
	group   []*searchcontext.Candidate
	where   removing.Places
	bounded bool
}

// series is a list of groups to try one after another. The next group may depend on the state of the search. Unsuccessful attempts don't
// change this state.
type series interface {
	// next returns the next group. The parameter taken means that the previous group became a step.
	next(s *Search, taken bool) (t groupToTry, more bool)
	// clone returns a copy of the remaining series.
	clone() series
}

// singly is a series whose groups have only one candidate each.
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

// rebuilt is a series of groups. A group has the first candidates of list: at first Exchanged candidates, then half as many, and so on.
// When a group becomes a step, or when the first candidate alone fails, the series removes this group from list and starts again.
type rebuilt struct {
	list []*searchcontext.Candidate
	// last is the size of the group that was returned last, or 0 before the first group.
	last int
	// begun means that the series has already returned a group.
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

// drawnGroups is a series of groups that drawGroup draws, groupDraws for each seed: see groups.exchange.
type drawnGroups struct {
	list []*searchcontext.Candidate
	// at is the index of the seed in the list of candidates. The seed is the candidate that is in all of the groups drawn for it. draw is
	// the number of the next group for this seed, from 0.
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
