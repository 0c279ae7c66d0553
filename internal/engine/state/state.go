package state

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/internal/engine/bitset"
	"github.com/drawknife/drawknife/internal/engine/existing"
	"github.com/drawknife/drawknife/internal/engine/nodepool"
	"github.com/drawknife/drawknife/internal/engine/podclass"
	"github.com/drawknife/drawknife/internal/engine/topology"
)

// World is what a state starts from and never changes.
type World struct {
	// Dims is how many resources there are.
	Dims    int
	Nodes   []existing.Node
	Classes []*podclass.Class
	Pools   []*nodepool.Pool
	// Rules are those that pods state about where others are.
	Rules []topology.Group
	// Asked are the labels that some pod or rule asks about.
	Asked map[string]bool
	// VolumesBound counts the pods of each shared volume that are bound to nodes.
	VolumesBound map[VolumeOn]int32
	// Pods are those that wait at first; classes list theirs by number.
	Pods []*corev1.Pod
	// Gangs are pods that are placed together; see Choosing.
	Gangs []Gang
}

// Watcher is told of changes, done or undone.
type Watcher interface {
	// RoomChanged says that what a node has free, or whether it takes pods, is another.
	RoomChanged(node int32)
	// Returned says that the last so many pods that wait do so no more, since their node is back.
	Returned(pods int)
}

// State is what is where. All changes to it can be undone.
type State struct {
	w World
	// Watch is told of changes; nil for nobody.
	Watch Watcher
	// Free is indexed [node*resources+resource].
	Free []int64
	// Usable says which nodes may take pods now.
	Usable bitset.Set
	// closed are those that were closed; empty as long as none was.
	closed bitset.Set
	// Waiting counts, by class, the pods that need a place.
	Waiting []int32
	// Ways are those that World.Gangs wait in. Queue lists the pods of a class in the order in which they are placed; nil stands for
	// Class.Pending.
	Ways  []int32
	Queue func(class int32) []int32
	// Freed are pods of hidden nodes, in the order they were hidden.
	Freed []existing.Pod
	// Placed lists what was put where, in an order in which it can be bound; Planned are the new nodes. Both only grow
	// at the end.
	Placed  []Binding
	Planned []Node
	// Hidden are nodes that were there in the order they were hidden, HiddenSet the same as a set.
	Hidden    []int32
	HiddenSet bitset.Set
	// firstFreed is, for each of hidden, where its pods begin in freed.
	firstFreed []int32
	// replaced are new nodes as they were when they became others.
	replaced []Node
	// sealed are the amounts that sealed hosts had left.
	sealed []sealed
	// Topology counts who is where; nil when no pod states a topology rule.
	Topology *topology.State
	// Limits, Volumes and Log have what goes with the placements.
	Limits  Limits
	Volumes Volumes
	Log     Log
	// Tight counts the pods of tight bindings.
	Tight int32
	// received counts, by node that was there, the pods that were put on it since, and last is the number of the last
	// binding on it, from 1 on; 0 for none.
	received, last []int32
	onHost         []int32 // scratch of takeOff
	roomLeft       []int64 // scratch of RoomOf
	// seen is where rules see nodes whose labels are decided, by pool, row and slot.
	seen map[[3]int32]seenByRules
}

// Begin starts with the world's nodes, nothing hidden, and nothing placed. free is what the nodes have free, counts who is where at
// first, nil without rules.
func (s *State) Begin(w World, free []int64, counts *topology.State) {
	*s = State{
		w: w, Free: slices.Clone(free), Usable: bitset.New(len(w.Nodes)), HiddenSet: bitset.New(len(w.Nodes)), Waiting: make([]int32, len(w.Classes)),
		received: make([]int32, len(w.Nodes)), last: make([]int32, len(w.Nodes)),
	}
	for i := range w.Nodes {
		if w.Nodes[i].Usable {
			s.Usable.Add(i)
		}
	}
	for i, c := range w.Classes {
		s.Waiting[i] = int32(len(c.Pending))
	}
	if len(w.Gangs) > 0 {
		s.Ways = make([]int32, len(w.Gangs))
	}
	s.Limits, s.Volumes.bound = newLimits(w.Pools), w.VolumesBound
	for i := range w.Nodes {
		if !w.Nodes[i].Source.Leaving {
			s.Limits.countNode(&w.Nodes[i], 1)
		}
	}
	if counts != nil {
		s.Topology = counts.Clone()
	}
}

// WaitingPods is how many pods of all classes wait.
func (s *State) WaitingPods() int {
	n := 0
	for _, w := range s.Waiting {
		n += int(w)
	}
	return n
}

// FreeOf is what a node that was there has free. What is written there is not undone.
func (s *State) FreeOf(node int32) []int64 {
	dims := int32(s.w.Dims)
	return s.Free[node*dims : (node+1)*dims]
}

// roomChanged says so to who watches.
func (s *State) roomChanged(node int32) {
	if s.Watch != nil {
		s.Watch.RoomChanged(node)
	}
}

// RoomOf is what is free on a host; good until the next call.
func (s *State) RoomOf(host int32) []int64 {
	if host < int32(len(s.w.Nodes)) {
		return s.FreeOf(host)
	}
	node := &s.Planned[host-int32(len(s.w.Nodes))]
	alloc := s.w.Pools[node.Pool].Table.AllocOf(int(node.Row), s.w.Dims)
	s.roomLeft = s.roomLeft[:0]
	for d := range alloc {
		s.roomLeft = append(s.roomLeft, alloc[d]-node.Used[d])
	}
	return s.roomLeft
}

// Admits reports whether the rules between pods allow one more pod of the class on the host.
func (s *State) Admits(c *podclass.Class, host int32) bool {
	return s.Topology == nil || s.Topology.Admits(c.Topology, c.Shape, host)
}
