package state

import (
	"cmp"
	"slices"
)

// change is one step that can be undone.
type change struct {
	kind changeKind
	// a and b are the operands of the change.
	a, b int32
}

type changeKind uint8

const (
	changeHidden    changeKind = iota // node a was hidden; b of its pods became pending
	changePlaced                      // a binding was added
	changeOpened                      // a new node was added, without pods
	changeTaken                       // b pods of binding a were removed from their host
	changeMoved                       // node a was exchanged: its earlier form is the last entry of State.replaced
	changeAbandoned                   // the empty node a was removed from all counts
	changeClosed                      // node a was closed
	changeStage                       // the stage of binding a was changed from stage b
	changeSealed                      // host a was sealed: it is described by the last entry of State.sealed
	changeWay                         // the pending state of gang a was changed from state b
)

// Log lists the changes that can be undone, oldest first.
type Log struct {
	changes []change
	// epoch is the number of commits. Marks of earlier epochs are no longer valid.
	epoch int
	// cut is the number of rollbacks so far. cuts has the rollbacks of this epoch, sorted by the change to which they went back. A later
	// rollback to the same or an earlier change removes them from the list.
	cut  int
	cuts []cut
}

// cut is a rollback with its number. It removed the changes with index >= at from the log.
type cut struct{ number, at int }

// Mark is a point to return to.
type Mark struct{ log, epoch, taken int }

// Now returns the mark of the current state.
func (l *Log) Now() Mark { return Mark{len(l.changes), l.epoch, l.cut} }

// Commit makes all changes so far permanent, so that they can no longer be rolled back. Earlier marks are no longer valid.
func (l *Log) Commit() {
	l.changes = l.changes[:0]
	l.cuts = nil
	l.epoch++
}

// goBack records that all changes since the mark will be undone. It returns false for a mark that is no longer valid.
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

// isCut reports whether a rollback after the mark was taken removed changes from before the mark. In the list cuts, both the numbers and
// the indexes at ascend. Therefore, of the rollbacks after the mark was taken, the first one in the list removed the most changes.
func (l *Log) isCut(m Mark) bool {
	since, _ := slices.BinarySearchFunc(l.cuts, m.taken+1, func(c cut, number int) int { return cmp.Compare(c.number, number) })
	return since < len(l.cuts) && l.cuts[since].at < m.log
}

// Holds reports whether the state still contains all changes from before the mark.
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

// ApartSince reports whether all changes after the mark concern new nodes that were opened after the mark. nodes and placements are the
// current numbers of new nodes and of bindings. firstNode and firstPlaced are the indexes of the first new node and of the first binding
// that were added after the mark.
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
		default: // a new node from before the mark may have been exchanged or abandoned
			apart = int(c.a) >= firstNode
		}
		if !apart {
			return firstNode, firstPlaced, false
		}
	}
	return firstNode, firstPlaced, true
}
