package state

import (
	"cmp"
	"slices"
)

// change is one undoable step.
type change struct {
	kind changeKind
	// a and b are operands of the kind.
	a, b int32
}

type changeKind uint8

const (
	changeHidden    changeKind = iota // node a was hidden; b of its pods became waiting
	changePlaced                      // the last placement was added
	changeOpened                      // the last node was added, without pods
	changeTaken                       // b pods of placement a were removed from their host
	changeMoved                       // node a was exchanged: its old form is the last of State.replaced
	changeAbandoned                   // node a, which is empty, no longer counts
	changeClosed                      // node a was closed
	changeStage                       // placement a was at stage b before
	changeSealed                      // host a was sealed: the last of State.sealed
	changeWay                         // gang a was in waiting state b before
)

// Log lists the changes that can be undone, in order.
type Log struct {
	changes []change
	// epoch counts commits: marks of earlier epochs are stale.
	epoch int
	// cut numbers rollbacks; cuts are the rollbacks of this epoch that no later rollback went behind, ascending.
	cut  int
	cuts []cut
}

// cut is a rollback: it removed the changes logged from at on.
type cut struct{ number, at int }

// Mark is a point to return to.
type Mark struct{ log, epoch, taken int }

// Now returns the mark of the current state.
func (l *Log) Now() Mark { return Mark{len(l.changes), l.epoch, l.cut} }

// Commit makes everything done so far permanent: it can no longer be rolled back. Earlier marks become stale.
func (l *Log) Commit() {
	l.changes = l.changes[:0]
	l.cuts = nil
	l.epoch++
}

// goBack records that everything since the mark will be undone; false for a stale mark.
func (l *Log) goBack(to Mark) bool {
	if to.epoch != l.epoch || l.isCut(to) {
		return false
	}
	l.cut++
	for len(l.cuts) > 0 && l.cuts[len(l.cuts)-1].at >= to.log {
		l.cuts = l.cuts[:len(l.cuts)-1]
	}
	l.cuts = append(l.cuts, cut{l.cut, to.log})
	return true
}

// isCut reports whether a rollback after the mark went back behind it. Numbers and positions of cuts both ascend, so the first later cut
// went back furthest.
func (l *Log) isCut(m Mark) bool {
	since, _ := slices.BinarySearchFunc(l.cuts, m.taken+1, func(c cut, number int) int { return cmp.Compare(c.number, number) })
	return since < len(l.cuts) && l.cuts[since].at < m.log
}

// Holds reports whether the state still contains everything that was done up to the mark.
func (l *Log) Holds(m Mark) bool { return m.epoch == l.epoch && !l.isCut(m) }

// note adds a change.
func (l *Log) note(c change) { l.changes = append(l.changes, c) }

// ChangedSince reports whether anything changed after the mark.
func (l *Log) ChangedSince(m Mark) bool { return len(l.changes) > m.log }

// OpenedSince returns how many new nodes were opened since the mark.
func (l *Log) OpenedSince(m Mark) int { return l.count(m, changeOpened) }

// placedSince returns how many bindings were added since the mark.
func (l *Log) placedSince(m Mark) int { return l.count(m, changePlaced) }

func (l *Log) count(m Mark, kind changeKind) int {
	n := 0
	for _, c := range l.changes[m.log:] {
		if c.kind == kind {
			n++
		}
	}
	return n
}

// ApartSince reports whether all changes after the mark concern new nodes that were opened after it. Given the current numbers of new nodes
// and bindings, these are nodes from firstNode on and placements from firstPlaced on.
func (l *Log) ApartSince(m Mark, nodes, placements int) (firstNode, firstPlaced int, apart bool) {
	firstNode, firstPlaced = nodes-l.OpenedSince(m), placements-l.placedSince(m)
	for _, c := range l.changes[m.log:] {
		switch c.kind {
		case changeOpened, changePlaced:
			continue
		case changeHidden, changeClosed, changeSealed, changeWay:
			apart = false
		case changeTaken, changeStage:
			apart = int(c.a) >= firstPlaced
		default: // a new node was exchanged, or no longer counts
			apart = int(c.a) >= firstNode
		}
		if !apart {
			return firstNode, firstPlaced, false
		}
	}
	return firstNode, firstPlaced, true
}
