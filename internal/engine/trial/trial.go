package trial

import (
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/drawknife/drawknife/internal/engine/model"
	"github.com/drawknife/drawknife/internal/engine/state"
)

// Trial is a what-if on a Model: nodes can be hidden, their pods placed elsewhere, and all of it undone. It is the only constraint engine
// of the library: Solve is a trial that places the pending pods; disruption uses a trial to find the effect of removing a node. A new trial
// starts with the snapshot's nodes, nothing hidden, and the waiting pods not placed.
//
// A Trial is not safe for concurrent use; a Model may have any number of them.
type Trial struct {
	// Places are the possible new nodes.
	Places
	// S is the state.
	S state.State
	// admission remembers how devices are allocated; nil until it is needed.
	admission *deviceAdmission
	// Parted are the groups of pods that share claims and were removed from their nodes because some of them had no place, or nil if there
	// are none.
	Parted sets.Set[string]
	// NewOnly keeps Place off the nodes of the snapshot and off the new ones before fresh: see PlaceNew.
	NewOnly bool
	Fresh   int
	// RoomOnly keeps Place from relying on reachable domains staying empty: see roomFirst.
	RoomOnly bool
	// Rooms finds nodes with room in the order given to Rank; nil without an order.
	Rooms *roomIndex
	// Types remembers the possible types of new nodes.
	Types knownTypes
	// names finds the class of pending pods by name.
	names waitingNames
	// Proof is the problem behind the nodes, if one packing made them all.
	Proof *Proof
	// Packings are cached on request; nil otherwise.
	Packings *Packings
	// Settled is the point up to which all new nodes were replaced by the cheapest that hold their pods, for callers that place one group of
	// pods after another; nil otherwise.
	Settled *state.Mark
	// queues are the queues for the present ways of gangs; nil until they are needed.
	queues *gangQueues
}

// New starts a trial on the model.
func New(m *model.Model) *Trial {
	t := &Trial{Places: Places{M: m}}
	world := state.World{
		Dims: m.Resources.Len(), Nodes: m.Nodes, Classes: m.Classes, Pools: m.Pools, Rules: m.Topology, Asked: m.AskedKeys,
		VolumesBound: m.VolumesBound, Pods: m.Pods,
	}
	if m.Gangs != nil {
		world.Gangs = m.Gangs.Ways
	}
	t.S.Begin(world, m.Free, m.Base)
	GangsOf(t).withhold()
	t.S.Room.Watch = (*trialWatch)(t)
	t.promiseRoom()
	return t
}

// Add places pods on a host. The caller has checked that they may go there.
func (t *Trial) Add(p state.Binding) {
	t.Proof = nil
	t.S.Place(p)
}

// Restore repeats a record in the present state.
func (t *Trial) Restore(w state.Record) {
	if len(w.Bindings) > 0 {
		t.Proof = nil
	}
	w.Restore(&t.S)
}

// trialWatch keeps what a trial remembers about its state up to date.
type trialWatch Trial

func (t *trialWatch) RoomChanged(node int32) {
	if t.Rooms != nil {
		t.Rooms.update((*Trial)(t), node)
	}
}

func (t *trialWatch) Returned(pods int) {
	t.names.forget(t.S.Freed, len(t.S.Freed)-pods)
}
