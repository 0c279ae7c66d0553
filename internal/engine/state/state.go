package state

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/drawknife/drawknife/internal/engine/bitset"
	"github.com/drawknife/drawknife/internal/engine/existing"
	"github.com/drawknife/drawknife/internal/engine/nodepool"
	"github.com/drawknife/drawknife/internal/engine/podclass"
	"github.com/drawknife/drawknife/internal/engine/topology"
)

// World contains the data with which a state starts. It never changes.
type World struct {
	// Dims is the number of resources.
	Dims    int
	Nodes   []existing.Node
	Classes []*podclass.Class
	Pools   []*nodepool.Pool
	// Rules are the rules of pods about the nodes of other pods.
	Rules []topology.Group
	// Asked are the keys of the labels that some pod or rule uses.
	Asked map[string]bool
	// VolumesBound has, for each shared volume and node, the number of bound pods that use the volume.
	VolumesBound map[VolumeOn]int32
	// Pods are the initially pending pods. Classes refer to these pods by index.
	Pods []*corev1.Pod
	// Gangs are groups of pods that are placed together: see Choosing.
	Gangs []Gang
}

// hostOf returns the host number of a new node.
func (w *World) hostOf(i int32) int32 { return int32(len(w.Nodes)) + i }

// State records where pods are. All changes can be undone.
type State struct {
	w World
	// Room contains the free amounts of existing nodes.
	Room Room
	// Waiting has the number of pods without a place, by class.
	Waiting Waiting
	// Ways has the number of the current pending state of each gang of World.Gangs. Queue returns the pods of a class in the order of
	// placement. If Queue is nil, Class.Pending has this order.
	Ways  []int32
	Queue func(class int32) []int32
	// Freed are the pods of hidden nodes, in the order in which the nodes were hidden.
	Freed []existing.Pod
	// Placed are the bindings, and Planned the new nodes. Both lists only grow at the end.
	Placed  Placements
	Planned Nodes
	// Hidden lists the hidden existing nodes in the order of hiding. HiddenSet contains the same nodes as a set.
	Hidden    []int32
	HiddenSet bitset.Set
	// firstFreed has, for each hidden node, the index in Freed of its first pod.
	firstFreed []int32
	// replaced has the earlier forms of exchanged new nodes.
	replaced []Node
	// sealed has the amounts that were free on sealed hosts.
	sealed []sealed
	// Topology counts pods by domain. It is nil if no pod has a topology rule.
	Topology *topology.State
	// Limits, Volumes and Log are updated with the placements.
	Limits  Limits
	Volumes Volumes
	Log     Log
	// Tight is the number of pods in bindings with Binding.Tight.
	Tight int32
	// received has the number of pods that were placed on each existing node.
	received []int32
	onHost   []int32 // scratch of takeOff
	roomLeft []int64 // scratch of RoomOf
	// rules updates Topology.
	rules counting
}

// Waiting has the number of pending pods, indexed by class.
type Waiting []int32

// Pods returns the number of pods of all classes.
func (w Waiting) Pods() int {
	n := 0
	for _, count := range w {
		n += int(count)
	}
	return n
}

// Begin resets s to a state of the world's nodes in which nothing is hidden or placed. free has the free amounts of the nodes. counts has
// the initial topology counts; it is nil if there are no rules.
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

// RoomOf returns the free amounts of a host. The result is valid until the next call.
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
