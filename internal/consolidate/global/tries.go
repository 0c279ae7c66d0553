package global

import "context"

// groupToTry is a group that is to be tried, and where its pods may go. A bounded one is left, with all after it, once the search has
// made as many what-ifs as it may.
type groupToTry struct {
	group   []*unit
	where   places
	bounded bool
}

// series are groups to try one after another. Which comes next depends on the search, and on nothing that trying in vain changes.
type series interface {
	// next is told whether the last one became a step.
	next(s *search, taken bool) (t groupToTry, more bool)
	// clone is the rest of the series as it is now.
	clone() series
}

// tryEach tries one after another. Where the search has scouts they are sent ahead after a few tries in vain.
func (s *search) tryEach(ctx context.Context, list series) error {
	look := lookahead{s: s, rest: list}
	defer s.scouts.rest()
	for taken := false; ; {
		t, found, more := look.next(ctx, taken)
		if !more || t.bounded && s.work > s.most {
			return nil
		}
		before, work := len(s.steps), s.work
		s.found = found
		err := s.tryGroup(ctx, t.group, t.where)
		s.found = nil
		if err != nil {
			return err
		}
		if taken = len(s.steps) > before; taken || s.work > work {
			look.came(taken)
		}
	}
}

// singly are the units by themselves.
type singly struct {
	list  []*unit
	where places
}

func (l *singly) clone() series { out := *l; return &out }

func (l *singly) next(s *search, _ bool) (t groupToTry, more bool) {
	for len(l.list) > 0 {
		u := l.list[0]
		l.list = l.list[1:]
		if !s.gone[u] && !s.fixed[u] {
			return groupToTry{group: []*unit{u}, where: l.where}, true
		}
	}
	return t, false
}

// rebuilt are the first units of the list together, as many as are exchanged at once, then half as many, and so on: the next in the list
// once that becomes a step, or not even the first one does by itself.
type rebuilt struct {
	list []*unit
	// last is how many were tried last; 0 for none of the list as it is.
	last int
	// begun says that some were tried.
	begun bool
}

func (l *rebuilt) clone() series { out := *l; return &out }

func (l *rebuilt) next(s *search, taken bool) (t groupToTry, more bool) {
	n := l.last / 2
	if taken || l.last == 1 {
		l.list, n = l.list[l.last:], 0
	}
	first := n == 0
	if first {
		n = min(s.exchanged(), len(l.list))
	}
	if l.last = n; n == 0 {
		return t, false
	}
	t = groupToTry{group: l.list[:n:n], where: onlyNew, bounded: first && l.begun}
	l.begun = true
	return t, true
}

// drawnGroups are groups of seeds with partners, a few for each: see exchangeGroups.
type drawnGroups struct {
	list []*unit
	// at is the seed, draw the number of its next group.
	at, draw int
}

func (l *drawnGroups) clone() series { out := *l; return &out }

func (l *drawnGroups) next(s *search, taken bool) (t groupToTry, more bool) {
	if taken {
		l.at, l.draw = l.at+1, 0
	}
	bounded := false
	for ; l.at < len(l.list); l.at, l.draw = l.at+1, 0 {
		bounded = bounded || l.draw == 0
		if seed := l.list[l.at]; s.gone[seed] || s.fixed[seed] || l.draw == groupDraws {
			continue
		}
		if group := s.drawGroup(l.list, l.at, l.draw); len(group) > 1 {
			l.draw++
			return groupToTry{group, useRoom, bounded}, true
		}
	}
	return t, false
}
