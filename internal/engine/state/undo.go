package state

// Rollback undoes all changes since the mark, in reverse order. undone reports whether there was anything to undo. If the mark is no longer
// valid, because of a commit or because the mark itself was undone, it does nothing and ok is false.
func (s *State) Rollback(to Mark) (undone, ok bool) {
	if !s.Log.goBack(to) {
		return false, false
	}
	return s.Undo(to), true
}

// Undo undoes all changes since the mark, which must be valid. It reports whether there was anything to undo.
func (s *State) Undo(to Mark) bool {
	if len(s.Log.changes) == to.log {
		return false
	}
	for len(s.Log.changes) > to.log {
		last := s.Log.changes[len(s.Log.changes)-1]
		s.Log.changes = s.Log.changes[:len(s.Log.changes)-1]
		switch last.kind {
		case changeHidden:
			s.unhide(last.a, int(last.b))
		case changePlaced:
			s.apply(s.Placed.pop(), -1)
		case changeTaken:
			p := &s.Placed.All[last.a]
			p.Count = last.b
			s.apply(*p, 1)
		case changeMoved:
			s.become(last.a, s.replaced[len(s.replaced)-1])
			s.replaced = s.replaced[:len(s.replaced)-1]
		case changeAbandoned:
			s.countNew(last.a, 1)
		case changeClosed:
			s.Room.reopen(last.a, s.HiddenSet.Has(int(last.a)))
		case changeStage:
			s.Placed.All[last.a].Stage = last.b
		case changeWay:
			ChoosingOf(s).choose(last.a, last.b)
		case changeSealed:
			s.sealed[len(s.sealed)-1].take(s, last.a, -1)
			s.sealed = s.sealed[:len(s.sealed)-1]
		case changeOpened:
			s.unopen()
		}
	}
	return true
}
