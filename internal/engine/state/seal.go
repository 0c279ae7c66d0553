package state

// sealed has the amounts of some resources that were free on a host when it was sealed.
type sealed struct {
	dims []int
	left []int64
}

// Seal marks all amounts of the given resources that are now free on the host as used. After that, no further pod that requests one of
// these resources fits on the host.
func (s *State) Seal(host int32, dims []int) {
	left, room := make([]int64, len(dims)), s.RoomOf(host)
	for i, d := range dims {
		left[i] = room[d]
	}
	what := sealed{dims, left}
	s.sealed = append(s.sealed, what)
	s.Log.note(change{kind: changeSealed, a: host})
	what.take(s, host, 1)
}

// take subtracts the sealed amounts from the free amounts of the host (if sign is 1), or adds them again (if sign is -1).
func (what sealed) take(s *State, host int32, sign int64) {
	if i := int(host) - len(s.w.Nodes); i >= 0 {
		for k, d := range what.dims {
			s.Planned[i].Used[d] += sign * what.left[k]
		}
		return
	}
	for k, d := range what.dims {
		s.Room.Of(host)[d] -= sign * what.left[k]
	}
	s.Room.changed(host)
}
