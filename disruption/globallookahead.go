package disruption

import (
	"context"
	"slices"
)

// lookahead is a series of groups to try, of which some are handed to scouts ahead of their turn.
type lookahead struct {
	s *search
	// rest are the groups after those of the queue.
	rest  series
	queue []*errand
	// last was taken off the queue last; nil for none since the last step.
	last *errand
	// vain is how many groups were tried in vain since then.
	vain int
}

// vainAlone is how many groups are tried in vain before scouts are sent ahead: it takes as long to copy a trial, or to do on one what was
// done on another.
const vainAlone = 4

// next is the next group, with what a scout found; nil for nothing.
func (l *lookahead) next(ctx context.Context, taken bool) (t groupToTry, found *finding, more bool) {
	away := l.vain >= vainAlone && l.s.scouts.sent(ctx)
	if away {
		l.fill()
	}
	if len(l.queue) == 0 {
		if !away {
			t, more = l.rest.next(l.s, taken)
		}
		return t, nil, more
	}
	l.last = l.queue[0]
	l.queue = slices.Delete(l.queue, 0, 1)
	if found = <-l.last.found; found == nil { // it may become a step
		l.s.scouts.rest()
	}
	return l.last.groupToTry, found, true
}

// fill hands groups to scouts until these have enough to do. Those that are no news are left out.
func (l *lookahead) fill() {
	s, bounded := l.s, false
	for most := s.scouts.enough(); len(l.queue) < most; {
		t, more := l.rest.next(s, false)
		if !more {
			return
		}
		bounded = bounded || t.bounded
		if !s.news(t.group, t.where) {
			continue
		}
		t.bounded, bounded = bounded, false
		e := &errand{groupToTry: t, rest: l.rest.clone(), found: make(chan *finding, 1)}
		l.queue = append(l.queue, e)
		s.scouts.send(e)
	}
}

// came is told whether a group that was tried became a step.
func (l *lookahead) came(taken bool) {
	if !taken {
		l.vain++
		return
	}
	if l.last != nil {
		l.rest = l.last.rest
	}
	l.queue, l.last, l.vain = nil, nil, 0
}
