package state

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/internal/engine/bitset"
	"github.com/drawknife/drawknife/internal/engine/layout"
)

// Hide removes a node, as if it were gone: its movable pods for which moves is true begin to wait. It returns how many these are.
func (s *State) Hide(node int32, moves func(*corev1.Pod) bool) (pods int) {
	n := &s.w.Nodes[node]
	s.takeOff(node)
	s.Usable.Remove(int(node))
	s.roomChanged(node)
	s.Hidden = append(s.Hidden, node)
	s.HiddenSet.Add(int(node))
	s.firstFreed = append(s.firstFreed, int32(len(s.Freed)))
	for _, p := range n.Movable {
		if moves(p.Pod) {
			s.Waiting[p.Class]++
			s.Freed = append(s.Freed, p)
			pods++
		}
	}
	if !n.Source.Leaving {
		s.Limits.countNode(n, -1)
		s.countBound(node, -1)
	}
	s.Log.note(change{changeHidden, node, int32(pods)})
	return pods
}

// takeOff makes the pods that were put on a host wait again.
func (s *State) takeOff(host int32) {
	if s.received[host] == 0 {
		return
	}
	list := s.onHost[:0]
	for i := s.last[host] - 1; i >= 0; i = s.Placed[i].Before - 1 {
		if s.Placed[i].Count > 0 {
			list = append(list, i)
		}
	}
	s.onHost = list
	for _, i := range slices.Backward(list) { // the last one to come is the first to wait again
		p := &s.Placed[i]
		s.apply(*p, -1)
		s.Log.note(change{changeTaken, i, p.Count})
		p.Count = 0
	}
}

// unhide undoes Hide.
func (s *State) unhide(i int32, pods int) {
	n := &s.w.Nodes[i]
	for _, p := range s.Freed[len(s.Freed)-pods:] {
		s.Waiting[p.Class]--
	}
	if s.Watch != nil {
		s.Watch.Returned(pods)
	}
	s.Freed = s.Freed[:len(s.Freed)-pods]
	s.Hidden = s.Hidden[:len(s.Hidden)-1]
	s.HiddenSet.Remove(int(i))
	s.firstFreed = s.firstFreed[:len(s.Hidden)]
	if n.Usable && !s.isClosed(int(i)) {
		s.Usable.Add(int(i))
		s.roomChanged(i)
	}
	if !n.Source.Leaving {
		s.Limits.countNode(n, 1)
		s.countBound(i, 1)
	}
}

// countBound adds the node and its bound pods to the topology counts, or removes them.
func (s *State) countBound(node, n int32) {
	if s.Topology == nil {
		return
	}
	if n > 0 {
		s.Topology.SetGone(node, false)
	}
	for _, p := range s.w.Nodes[node].Bound {
		s.Topology.Place(layout.StakeOfBound(s.w.Rules, p, s.w.Classes[p.Class].Topology), node, n)
	}
	if n < 0 {
		s.Topology.SetGone(node, true)
	}
}

// Shut keeps pods that are placed later off a node; pods on it stay.
func (s *State) Shut(node int) {
	if s.isClosed(node) {
		return
	}
	if s.closed == nil {
		s.closed = bitset.New(len(s.w.Nodes))
	}
	s.closed.Add(node)
	s.Usable.Remove(node)
	s.roomChanged(int32(node))
	s.Log.note(change{changeClosed, int32(node), 0})
}

func (s *State) isClosed(node int) bool { return s.closed != nil && s.closed.Has(node) }

// reopen undoes Shut.
func (s *State) reopen(node int) {
	s.closed.Remove(node)
	if s.w.Nodes[node].Usable && !s.HiddenSet.Has(node) {
		s.Usable.Add(node)
		s.roomChanged(int32(node))
	}
}

// Drop removes a new node, as if it had never been opened: its pods wait again. It returns how many these are.
func (s *State) Drop(number int) (pods int) {
	for i := s.Planned[number].last - 1; i >= 0; i = s.Placed[i].Before - 1 {
		p := &s.Placed[i]
		if p.Count == 0 {
			continue
		}
		pods += int(p.Count)
		s.apply(*p, -1)
		s.Log.note(change{changeTaken, i, p.Count})
		p.Count = 0
	}
	s.countNew(int32(number), -1)
	s.Log.note(change{changeAbandoned, int32(number), 0})
	return pods
}
