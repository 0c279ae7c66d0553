package state

// Rollback undoes everything since the mark, in reverse order, and reports whether there was anything. For a stale mark, from before a
// commit or itself undone, it does nothing and ok is false.
func (s *State) Rollback(to Mark) (undone, ok bool) {
	if !s.Log.goBack(to) {
		return false, false
	}
	return s.Undo(to), true
}

// ApartSince reports whether everything since the mark concerns new nodes opened since: nodes from firstNode on, and placements from
// firstPlaced on.
func (s *State) ApartSince(m Mark) (firstNode, firstPlaced int, apart bool) {
	firstNode, firstPlaced = len(s.Planned)-s.Log.OpenedSince(m), len(s.Placed)-len(s.PlacedSince(m))
	for _, c := range s.Log.changes[m.log:] {
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

// Undo undoes everything since the mark, which is known to be valid. It reports whether there was anything.
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
		case changeWay:
			ChoosingOf(s).choose(last.a, last.b)
		case changeSealed:
			s.seal(last.a, s.sealed[len(s.sealed)-1], -1)
			s.sealed = s.sealed[:len(s.sealed)-1]
		case changeOpened:
			node := &s.Planned[len(s.Planned)-1]
			s.Limits.count(node.Pool, node.Capacity(s.w.Pools), -1)
			s.Limits.reserve(node, -1)
			if s.Topology != nil {
				s.placeResidents(node, -1)
				s.Topology.DropHost()
			}
			s.Planned = s.Planned[:len(s.Planned)-1]
		}
	}
	return true
}
