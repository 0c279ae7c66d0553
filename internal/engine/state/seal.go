package state

// sealed is the free amount of some resources of a host when it was sealed.
type sealed struct {
	dims []int
	left []int64
}

// Seal keeps further pods that request any of these resources off the host: what is left of them counts as used.
func (s *State) Seal(host int32, dims []int) {
	left, room := make([]int64, len(dims)), s.RoomOf(host)
	for i, d := range dims {
		left[i] = room[d]
	}
	what := sealed{dims, left}
	s.sealed = append(s.sealed, what)
	s.Log.note(change{kind: changeSealed, a: host})
	s.seal(host, what, 1)
}

// seal takes the free amount of the host, or returns it if sign is -1.
func (s *State) seal(host int32, what sealed, sign int64) {
	if i := int(host) - len(s.w.Nodes); i >= 0 {
		for k, d := range what.dims {
			s.Planned[i].Used[d] += sign * what.left[k]
		}
		return
	}
	for k, d := range what.dims {
		s.FreeOf(host)[d] -= sign * what.left[k]
	}
	s.roomChanged(host)
}

// TakeOne makes one pod of the class, placed on the host, wait again.
func (s *State) TakeOne(host, class int32) {
	for i := *s.lastOn(host) - 1; i >= 0; i = s.Placed[i].Before - 1 {
		p := &s.Placed[i]
		if p.Class != class || p.Count == 0 {
			continue
		}
		rest := *p
		s.apply(*p, -1)
		s.Log.note(change{changeTaken, i, p.Count})
		p.Count = 0
		if rest.Count--; rest.Count > 0 {
			s.Place(rest)
		}
		return
	}
}
