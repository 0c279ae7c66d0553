package trial

import (
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/drawknife/drawknife/internal/engine/model"
	"github.com/drawknife/drawknife/internal/engine/state"
)

// Trial tries changes on a Model: nodes can be hidden and their pods placed on other nodes, and all changes can be undone. It is the only
// constraint engine of the library: Solve makes a trial and places the pending pods; disruption uses a trial to find the effect of removing
// a node. A new trial starts with the snapshot's nodes. Nothing is hidden, and the pending pods are not placed.
//
// A Trial is not safe for concurrent use. A Model may have any number of trials.
type Trial struct {
	// Places computes the possible new nodes.
	Places
	// S is the state.
	S state.State
	// admission caches how devices are allocated. It is nil until it is needed.
	admission *deviceAdmission
	// Parted are the groups of pods that share claims and were removed from their nodes because some of the pods had no place. It is nil if
	// there are no such groups.
	Parted sets.Set[string]
	// NewOnly means that Place uses neither nodes of the snapshot nor new nodes with numbers below Fresh.
	NewOnly bool
	Fresh   int
	// RoomOnly means that spread constraints always count domains in which a node could be launched: see State.Binding of package topology.
	RoomOnly bool
	// Rooms finds nodes with room in the order given to Rank. It is nil if there is no order.
	Rooms *roomIndex
	// Types caches the possible types of new nodes.
	Types knownTypes
	// names maps the names of pending pods to their classes.
	names waitingNames
	// Proof has the problem from which the new nodes were packed, if a single packing made all new nodes. In all other cases it is nil.
	Proof *Proof
	// Packings caches packings. It is nil unless a caller sets it.
	Packings *Packings
	// Settled is a point in the trial: all new nodes opened before it were replaced by the cheapest nodes that hold their pods. Callers
	// that place one group of pods after another set it. Without such a caller it is nil.
	Settled *state.Mark
	// queues has the queues for the current pending states of gangs. It is nil until it is needed.
	queues *gangQueues
}

// New returns a new trial on the model.
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

// Add places pods on a host. The caller must have checked that the pods may run there.
func (t *Trial) Add(p state.Binding) {
	t.Proof = nil
	t.S.Place(p)
}

// Restore repeats the placements of a record in the current state.
func (t *Trial) Restore(w state.Record) {
	if len(w.Bindings) > 0 {
		t.Proof = nil
	}
	w.Restore(&t.S)
}

// trialWatch updates the caches of a trial when its state changes.
type trialWatch Trial

func (t *trialWatch) RoomChanged(node int32) {
	if t.Rooms != nil {
		t.Rooms.update((*Trial)(t), node)
	}
}

func (t *trialWatch) Returned(pods int) {
	t.names.forget(t.S.Freed, len(t.S.Freed)-pods)
}
