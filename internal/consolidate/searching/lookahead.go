package searching

import (
	"context"
	"slices"

	"github.com/drawknife/drawknife/internal/consolidate/removing"
)

// lookahead returns the groups of a series one after another. It lets scouts try some of these groups in advance.
type lookahead struct {
	s *Search
	// rest contains the groups of the series that follow the groups in queue.
	rest  series
	queue []*ahead
	// last is the group that l.next took from the queue most recently. It is nil if l.next has taken no group from the queue since the last
	// step.
	last *ahead
	// failed counts the unsuccessful attempts since the last step.
	failed int
}

// failuresAlone is the number of unsuccessful attempts since the last step after which the search uses scouts. Preparing a scout's trial,
// by copying it or repeating steps on it, takes about as long as this number of attempts.
const failuresAlone = 4

// next returns the next group, and the finding of a scout about it or nil. The parameter taken means that the group of the previous call
// became a step.
func (l *lookahead) next(ctx context.Context, taken bool) (t groupToTry, found *finding, more bool) {
	sent := l.failed >= failuresAlone && l.s.scouts.sent(ctx)
	if sent {
		l.fill()
	}
	if len(l.queue) == 0 {
		if !sent {
			t, more = l.rest.next(l.s, taken)
		}
		return t, nil, more
	}
	l.last = l.queue[0]
	l.queue = slices.Delete(l.queue, 0, 1)
	<-l.last.in.done
	if found = l.last.found; found == nil { // the search must try this group itself, and the group may become a step
		l.s.scouts.rest()
	}
	return l.last.groupToTry, found, true
}

// fill gives groups to scouts until they have enough work. It skips groups for which worthTrying returns false.
func (l *lookahead) fill() {
	most := l.s.scouts.enough()
	for more := true; more && len(l.queue) <= most-batchSize; {
		b := &batch{list: make([]*ahead, 0, batchSize), done: make(chan struct{})}
		for len(b.list) < batchSize && more {
			var a *ahead
			if a, more = l.nextToTry(); more {
				a.in = b
				b.list = append(b.list, a)
			}
		}
		l.queue = append(l.queue, b.list...)
		l.s.scouts.send(b)
	}
}

// nextToTry returns the next group of rest that is worth trying. It returns false if there is no such group.
func (l *lookahead) nextToTry() (a *ahead, more bool) {
	for bounded := false; ; {
		t, more := l.rest.next(l.s, false)
		if !more {
			return nil, false
		}
		if bounded = bounded || t.bounded; l.s.worthTrying(removing.Consolidating(t.group, t.where)) {
			t.bounded = bounded
			return &ahead{groupToTry: t, rest: l.rest.clone()}, true
		}
	}
}

// came records whether the last group became a step. If it did, the findings of scouts about later groups are invalid, and came drops them.
func (l *lookahead) came(taken bool) {
	if !taken {
		l.failed++
		return
	}
	if l.last != nil {
		l.rest = l.last.rest
	}
	l.queue, l.last, l.failed = nil, nil, 0
}
