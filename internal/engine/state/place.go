package state

import (
	"iter"
	"slices"

	"github.com/drawknife/drawknife/internal/engine/resources"
)

// Binding is a number of pods of a class put on a host: an existing node, or after those a new one.
type Binding struct {
	Class, Host, Count int32
	// Stage that allowed it on a new node.
	Stage int32
	// Tight bindings are only valid because no node has fewer members of a spread over nodes.
	Tight bool
	// Before is the number, from 1, of the previous binding on the same host; 0 for none.
	Before int32
}

// Place puts pods on a host. The caller has checked that they may go there.
func (s *State) Place(p Binding) {
	last := s.lastOn(p.Host)
	p.Before, *last = *last, int32(len(s.Placed)+1)
	s.Placed = append(s.Placed, p)
	s.Log.note(change{kind: changePlaced})
	s.apply(p, 1)
}

// Expect reserves memory for pods that will be hidden and placed, so that it need not grow step by step.
func (s *State) Expect(pods int) {
	if pods > 0 {
		s.Freed, s.Placed, s.Log.changes = slices.Grow(s.Freed, pods), slices.Grow(s.Placed, pods), slices.Grow(s.Log.changes, pods+pods/2)
	}
}

// lastOn is the number of the last binding on the host, from 1; 0 for none.
func (s *State) lastOn(host int32) *int32 {
	if i := int(host) - len(s.w.Nodes); i >= 0 {
		return &s.Planned[i].last
	}
	return &s.last[host]
}

// apply does a placement (sign 1) or undoes it (-1).
func (s *State) apply(p Binding, sign int32) {
	c := s.w.Classes[p.Class]
	n := sign * p.Count
	if p.Host < int32(len(s.w.Nodes)) {
		resources.AddScaled(s.FreeOf(p.Host), c.Requests, -int64(n))
		s.Volumes.share(c, p.Host, n, s.FreeOf(p.Host), 1)
		s.received[p.Host] += n
		s.roomChanged(p.Host)
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

// Loads are the bindings on each new node from the given one on, that one's first.
func (s *State) Loads(from int) [][]Binding {
	out := make([][]Binding, len(s.Planned)-from)
	for i := range out {
		for at := s.Planned[from+i].last - 1; at >= 0; at = s.Placed[at].Before - 1 {
			if s.Placed[at].Count > 0 {
				out[i] = append(out[i], s.Placed[at])
			}
		}
		slices.Reverse(out[i])
	}
	return out
}

// LoadOf are the pods put on a host.
func (s *State) LoadOf(host int32) []Binding {
	var out []Binding
	for _, b := range s.Placed {
		if b.Host == host && b.Count > 0 {
			out = append(out, b)
		}
	}
	return out
}

// On are the bindings on the host that have pods, the last first.
func (s *State) On(host int32) iter.Seq[*Binding] {
	return func(yield func(*Binding) bool) {
		for i := *s.lastOn(host) - 1; i >= 0; i = s.Placed[i].Before - 1 {
			if b := &s.Placed[i]; b.Count > 0 && !yield(b) {
				return
			}
		}
	}
}
