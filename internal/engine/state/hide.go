package state

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// Hide removes a node, as if it did not exist. Each movable pod of the node becomes pending if moves(pod) is true. Hide returns the number
// of these pods. The pod becomes a pending member of the class as(pod, class) or, if `as` is nil, of its own class.
func (s *State) Hide(node int32, moves func(*corev1.Pod) bool, as func(pod *corev1.Pod, class int32) int32) (pods int) {
	n := &s.w.Nodes[node]
	s.takeOff(node)
	s.Room.block(node)
	s.Hidden = append(s.Hidden, node)
	s.HiddenSet.Add(int(node))
	s.firstFreed = append(s.firstFreed, int32(len(s.Freed)))
	for _, p := range n.Movable {
		if moves(p.Pod) {
			if as != nil {
				p.Class = as(p.Pod, p.Class)
			}
			s.Waiting[p.Class]++
			s.Freed = append(s.Freed, p)
			pods++
		}
	}
	s.countBound(node, -1)
	s.Log.note(change{changeHidden, node, int32(pods)})
	return pods
}

// takeOff makes the pods that were placed on a host pending again.
func (s *State) takeOff(host int32) {
	if s.received[host] == 0 {
		return
	}
	s.onHost = slices.AppendSeq(s.onHost[:0], s.Placed.numbers(host))
	for _, i := range slices.Backward(s.onHost) { // pods become pending in the order in which they were placed
		s.takeAway(i)
	}
}

// unhide undoes Hide.
func (s *State) unhide(i int32, pods int) {
	for _, p := range s.Freed[len(s.Freed)-pods:] {
		s.Waiting[p.Class]--
	}
	if s.Room.Watch != nil {
		s.Room.Watch.Returned(pods)
	}
	s.Freed = s.Freed[:len(s.Freed)-pods]
	s.Hidden = s.Hidden[:len(s.Hidden)-1]
	s.HiddenSet.Remove(int(i))
	s.firstFreed = s.firstFreed[:len(s.Hidden)]
	s.Room.unblock(i)
	s.countBound(i, 1)
}

// countBound adds an existing node and its bound pods to all counts, or removes them if n is -1. A node that the snapshot marks as being
// removed is never counted.
func (s *State) countBound(node, n int32) {
	if of := &s.w.Nodes[node]; !of.Source.Leaving {
		s.Limits.countNode(of, int64(n))
		if s.Topology != nil {
			s.rules.bound(&s.w, s.Topology, node, n)
		}
	}
}

// Shut closes a node: pods on the node stay, but no further pods can be placed there.
func (s *State) Shut(node int) {
	if n := int32(node); !s.Room.isClosed(n) {
		s.Room.shut(n)
		s.Log.note(change{changeClosed, n, 0})
	}
}
