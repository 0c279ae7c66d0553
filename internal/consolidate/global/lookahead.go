package global

import (
	"context"
	"slices"
)

// lookahead is a series of groups to try, of which some are handed to scouts ahead of their turn.
type lookahead struct {
	s *search
	// rest are the groups after those of the queue.
	rest  series
	queue []*ahead
	// last was taken off the queue last; nil for none since the last step.
	last *ahead
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
	<-l.last.of.done
	if found = l.last.found; found == nil { // it may become a step
		l.s.scouts.rest()
	}
	return l.last.groupToTry, found, true
}

// fill hands groups to scouts until these have enough to do. Those that are no news are left out.
func (l *lookahead) fill() {
	most := l.s.scouts.enough()
	for more := true; more && len(l.queue) <= most-errandSize; {
		e := &errand{list: make([]*ahead, 0, errandSize), done: make(chan struct{})}
		for len(e.list) < errandSize && more {
			var a *ahead
			if a, more = l.news(); more {
				a.of = e
				e.list = append(e.list, a)
			}
		}
		l.queue = append(l.queue, e.list...)
		l.s.scouts.send(e)
	}
}

// news is the next group that is worth trying; false where there are no more.
func (l *lookahead) news() (a *ahead, more bool) {
	for bounded := false; ; {
		t, more := l.rest.next(l.s, false)
		if !more {
			return nil, false
		}
		if bounded = bounded || t.bounded; l.s.news(t.group, t.where) {
			t.bounded = bounded
			return &ahead{groupToTry: t, rest: l.rest.clone()}, true
		}
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
