package state

// Share is a number of pods of a class.
type Share struct{ Class, Count int32 }

// Gang is a group of pods that are pending together. Each pending state determines to which classes the gang's pods belong while the state
// is selected. In the first state, the pods belong to the classes that list them in Class.Pending.
type Gang struct{ Ways [][]Share }

// Choosing selects the pending states of gangs.
type Choosing struct{ *State }

// ChoosingOf returns a Choosing for the state.
func ChoosingOf(s *State) Choosing { return Choosing{s} }

// Choose selects another pending state of the gang. Choose can be undone.
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

// SetAside removes the pods of the classes from the pending pods, until TakeBack is called with the result. The log contains neither
// SetAside nor TakeBack. Therefore no change from before SetAside may be undone before TakeBack.
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
