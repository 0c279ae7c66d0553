package state

import (
	"slices"

	"github.com/drawknife/drawknife/internal/engine/resources"
)

// Place puts the pods of a binding on its host. The caller must have checked that the pods may run there.
func (s *State) Place(p Binding) {
	s.Placed.push(p)
	s.Log.note(change{kind: changePlaced})
	s.apply(p, 1)
}

// Expect reserves memory for the given number of pods that will be hidden and placed, so that the lists need not grow in small steps.
func (s *State) Expect(pods int) {
	if pods > 0 {
		s.Freed, s.Placed.All, s.Log.changes = slices.Grow(s.Freed, pods), slices.Grow(s.Placed.All, pods), slices.Grow(s.Log.changes, pods+pods/2)
	}
}

// apply carries out a placement (if sign is 1) or undoes it (if sign is -1).
func (s *State) apply(p Binding, sign int32) {
	c := s.w.Classes[p.Class]
	n := sign * p.Count
	if p.Host < int32(len(s.w.Nodes)) {
		free := s.Room.Of(p.Host)
		resources.AddScaled(free, c.Requests, -int64(n))
		s.Volumes.share(c, p.Host, n, free, 1)
		s.received[p.Host] += n
		s.Room.changed(p.Host)
	} else {
		used := s.Planned[p.Host-int32(len(s.w.Nodes))].Used
		resources.AddScaled(used, c.Requests, int64(n))
		s.Volumes.share(c, p.Host, n, used, -1)
	}
	s.Waiting[p.Class] -= n
	if p.Tight {
		s.Tight += n
	}
	if s.Topology != nil {
		s.Topology.Place(c.Topology, p.Host, n)
	}
}

// takeAway makes the pods of a binding pending again.
func (s *State) takeAway(binding int32) {
	p := &s.Placed.All[binding]
	s.apply(*p, -1)
	s.Log.note(change{changeTaken, binding, p.Count})
	p.Count = 0
}

// TakeOne makes one pod of the class on the host pending again.
func (s *State) TakeOne(host, class int32) {
	for i := range s.Placed.numbers(host) {
		rest := s.Placed.All[i]
		if rest.Class != class {
			continue
		}
		s.takeAway(i)
		if rest.Count--; rest.Count > 0 {
			s.Place(rest)
		}
		return
	}
}

// Restage changes the stage of a binding.
func (s *State) Restage(placement, stage int32) {
	p := &s.Placed.All[placement]
	s.Log.note(change{changeStage, placement, p.Stage})
	p.Stage = stage
}
