package state

// Share is so many pods of a class.
type Share struct{ Class, Count int32 }

// Gang is pods that wait together. Its ways say, each, of which classes they are while it is chosen; in the first they are of
// the classes that list them as pending.
type Gang struct{ Ways [][]Share }

// Choosing says in which ways gangs wait.
type Choosing struct{ *State }

// ChoosingOf changes the state.
func ChoosingOf(s *State) Choosing { return Choosing{s} }

// Choose has the gang's pods wait as another of its ways says. It can be undone.
func (s Choosing) Choose(gang, way int32) {
	if s.Ways[gang] == way {
		return
	}
	s.Log.note(change{changeWay, gang, s.Ways[gang]})
	s.choose(gang, way)
}

func (s Choosing) choose(gang, way int32) {
	g := &s.w.Gangs[gang]
	for _, share := range g.Ways[s.Ways[gang]] {
		s.Waiting[share.Class] -= share.Count
	}
	for _, share := range g.Ways[way] {
		s.Waiting[share.Class] += share.Count
	}
	s.Ways[gang] = way
}

// SetAside has pods of the classes wait no more, until TakeBack is called with what it returns. Neither is logged: in between
// nothing from before may be undone.
func (s Choosing) SetAside(classes []int32) []Share {
	var out []Share
	for _, class := range classes {
		if n := s.Waiting[class]; n > 0 {
			out = append(out, Share{class, n})
			s.Waiting[class] = 0
		}
	}
	return out
}

// TakeBack undoes SetAside.
func (s Choosing) TakeBack(shares []Share) {
	for _, share := range shares {
		s.Waiting[share.Class] += share.Count
	}
}
