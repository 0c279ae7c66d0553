package state

import (
	"cmp"
	"slices"
)

// change is one undoable step.
type change struct {
	kind changeKind
	// a and b are what the kind says.
	a, b int32
}

type changeKind uint8

const (
	changeHidden    changeKind = iota // node a was hidden; b of its pods became waiting
	changePlaced                      // the last placement was added
	changeOpened                      // the last node was added, empty
	changeTaken                       // b pods of placement a were taken off their host again
	changeMoved                       // node a became another: the last of State.replaced
	changeAbandoned                   // node a, which is empty, counts no more
	changeClosed                      // node a was closed
	changeStage                       // placement a was at stage b before
	changeSealed                      // host a was sealed: the last of State.sealed
)

// cut is a rollback: what was logged from at on is gone.
type cut struct{ number, at int }

// Mark is a point to come back to.
type Mark struct{ log, epoch, taken int }

// Now is the present point.
func (s *State) Now() Mark { return Mark{len(s.log), s.epoch, s.cut} }

// Rollback undoes everything done since the mark, in reverse order, and reports whether there was anything. For a mark that is stale,
// taken before a commit or undone itself, it does nothing and is not ok.
func (s *State) Rollback(to Mark) (undone, ok bool) {
	if to.epoch != s.epoch || s.isCut(to) {
		return false, false
	}
	s.cut++
	for len(s.cuts) > 0 && s.cuts[len(s.cuts)-1].at >= to.log {
		s.cuts = s.cuts[:len(s.cuts)-1]
	}
	s.cuts = append(s.cuts, cut{s.cut, to.log})
	return s.Undo(to), true
}

// Commit makes everything done so far permanent: it can't be rolled back any more. Marks taken before are void.
func (s *State) Commit() {
	s.log = s.log[:0]
	s.cuts = nil
	s.epoch++
}

// ChangedSince reports whether anything was done since the mark.
func (s *State) ChangedSince(m Mark) bool { return len(s.log) > m.log }

// OpenedSince is how many new nodes were opened since the mark.
func (s *State) OpenedSince(m Mark) int {
	n := 0
	for _, c := range s.log[m.log:] {
		if c.kind == changeOpened {
			n++
		}
	}
	return n
}

// ApartSince reports whether everything done since the mark concerns new nodes opened since: those from firstNode on, and placements from
// firstPlaced on.
func (s *State) ApartSince(m Mark) (firstNode, firstPlaced int, apart bool) {
	firstNode, firstPlaced = len(s.Planned)-s.OpenedSince(m), len(s.Placed)-len(s.PlacedSince(m))
	for _, c := range s.log[m.log:] {
		switch c.kind {
		case changeOpened, changePlaced:
			continue
		case changeHidden, changeClosed, changeSealed:
			apart = false
		case changeTaken, changeStage:
			apart = int(c.a) >= firstPlaced
		default: // a new node became another, or counts no more
			apart = int(c.a) >= firstNode
		}
		if !apart {
			return firstNode, firstPlaced, false
		}
	}
	return firstNode, firstPlaced, true
}

// isCut reports whether a rollback since the mark was taken went back beyond it. Both numbers and places of cuts ascend, so
// that the first one since then went back furthest.
func (s *State) isCut(m Mark) bool {
	since, _ := slices.BinarySearchFunc(s.cuts, m.taken+1, func(c cut, number int) int { return cmp.Compare(c.number, number) })
	return since < len(s.cuts) && s.cuts[since].at < m.log
}

// Undo undoes everything done since the mark, which is known to be good. It reports whether there was anything.
func (s *State) Undo(to Mark) bool {
	if len(s.log) == to.log {
		return false
	}
	for len(s.log) > to.log {
		last := s.log[len(s.log)-1]
		s.log = s.log[:len(s.log)-1]
		switch last.kind {
		case changeHidden:
			s.unhide(last.a, int(last.b))
		case changePlaced:
			p := s.Placed[len(s.Placed)-1]
			s.Placed = s.Placed[:len(s.Placed)-1]
			*s.lastOn(p.Host) = p.Before
			s.apply(p, -1)
		case changeTaken:
			p := &s.Placed[last.a]
			p.Count = last.b
			s.apply(*p, 1)
		case changeMoved:
			s.become(last.a, s.replaced[len(s.replaced)-1])
			s.replaced = s.replaced[:len(s.replaced)-1]
		case changeAbandoned:
			s.countNew(last.a, 1)
		case changeClosed:
			s.reopen(int(last.a))
		case changeStage:
			s.Placed[last.a].Stage = last.b
		case changeSealed:
			s.seal(last.a, s.sealed[len(s.sealed)-1], -1)
			s.sealed = s.sealed[:len(s.sealed)-1]
		case changeOpened:
			node := &s.Planned[len(s.Planned)-1]
			s.count(node.Pool, node.Capacity(s.w.Pools), -1)
			s.reserve(node, -1)
			if s.Topology != nil {
				s.placeResidents(node, -1)
				s.Topology.DropHost()
			}
			s.Planned = s.Planned[:len(s.Planned)-1]
		}
	}
	return true
}
