package state

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/internal/engine/bitset"
	"github.com/drawknife/drawknife/internal/engine/existing"
	"github.com/drawknife/drawknife/internal/engine/nodepool"
	"github.com/drawknife/drawknife/internal/engine/podclass"
	"github.com/drawknife/drawknife/internal/engine/topology"
)

// World contains the initial data of a state; it never changes.
type World struct {
	// Dims is the number of resources.
	Dims    int
	Nodes   []existing.Node
	Classes []*podclass.Class
	Pools   []*nodepool.Pool
	// Rules are the rules of pods about where other pods are.
	Rules []topology.Group
	// Asked are the labels that some pod or rule needs.
	Asked map[string]bool
	// VolumesBound counts the pods of each shared volume that are bound to nodes.
	VolumesBound map[VolumeOn]int32
	// Pods are the initially pending pods; classes list theirs by number.
	Pods []*corev1.Pod
	// Gangs are groups of pods placed together; see Choosing.
	Gangs []Gang
}

// hostOf returns the host number of a new node.
func (w *World) hostOf(i int32) int32 { return int32(len(w.Nodes)) + i }

// State records where pods are. All changes can be undone.
type State struct {
	w World
	// Room contains the free amounts of existing nodes.
	Room Room
	// Waiting counts the pods without a place, by class.
	Waiting Waiting
	// Ways are the present ways of World.Gangs. Queue lists the pods of a class in the order of placement; nil means Class.Pending.
	Ways  []int32
	Queue func(class int32) []int32
	// Freed are pods of hidden nodes, in the order of hiding.
	Freed []existing.Pod
	// Placed are the bindings, and Planned the new nodes, which only grow at the end.
	Placed  Placements
	Planned Nodes
	// Hidden are the hidden existing nodes in order, HiddenSet the same as a set.
	Hidden    []int32
	HiddenSet bitset.Set
	// firstFreed has, for each hidden node, where its pods start in Freed.
	firstFreed []int32
	// replaced are the former states of exchanged new nodes.
	replaced []Node
	// sealed are the free amounts of sealed hosts.
	sealed []sealed
	// Topology counts pods by domain; nil if no pod has a topology rule.
	Topology *topology.State
	// Limits, Volumes and Log belong to the placements.
	Limits  Limits
	Volumes Volumes
	Log     Log
	// Tight counts the pods of tight bindings.
	Tight int32
	// received counts the pods put on each existing node.
	received []int32
	onHost   []int32 // scratch of takeOff
	roomLeft []int64 // scratch of RoomOf
	// rules keeps Topology up to date.
	rules counting
}

// Waiting counts the pods without a place, by class.
type Waiting []int32

// Pods returns their number in all classes.
func (w Waiting) Pods() int {
	n := 0
	for _, count := range w {
		n += int(count)
	}
	return n
}

// Begin makes a state of the world's nodes, with nothing hidden or placed. free contains the free amounts of the nodes, counts the initial
// topology counts, nil if there are no rules.
func (s *State) Begin(w World, free []int64, counts *topology.State) {
	*s = State{
		w: w, Room: newRoom(&w, free), HiddenSet: bitset.New(len(w.Nodes)), Waiting: make(Waiting, len(w.Classes)),
		received: make([]int32, len(w.Nodes)), Placed: newPlacements(len(w.Nodes)),
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

// RoomOf returns the free amounts of a host; valid until the next call.
func (s *State) RoomOf(host int32) []int64 {
	if host < int32(len(s.w.Nodes)) {
		return s.Room.Of(host)
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
