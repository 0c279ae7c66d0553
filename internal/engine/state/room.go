package state

import (
	"slices"

	"github.com/drawknife/drawknife/internal/engine/bitset"
	"github.com/drawknife/drawknife/internal/engine/existing"
)

// Watcher is notified of changes and of their undo.
type Watcher interface {
	// RoomChanged is called when the free amounts of a node have changed, or when a node starts or stops to accept pods.
	RoomChanged(node int32)
	// Returned is called when the hiding of a node is undone. The pods of this node, the last that became pending, are no longer pending;
	// the parameter pods is their number.
	Returned(pods int)
}

// Room contains the free amounts of existing nodes, and which of these nodes accept pods.
type Room struct {
	nodes []existing.Node
	dims  int32
	// Watch is notified of changes. It may be nil.
	Watch Watcher
	// Free is indexed by node*resources+resource.
	Free []int64
	// Usable are the nodes that may take pods now.
	Usable bitset.Set
	// closed are the closed nodes. It is nil while no node is closed.
	closed bitset.Set
}

func newRoom(w *World, free []int64) Room {
	r := Room{nodes: w.Nodes, dims: int32(w.Dims), Free: slices.Clone(free), Usable: bitset.New(len(w.Nodes))}
	for i := range w.Nodes {
		if w.Nodes[i].Usable {
			r.Usable.Add(i)
		}
	}
	return r
}

// clone returns a copy without Watch.
func (r *Room) clone() Room {
	return Room{nodes: r.nodes, dims: r.dims, Free: slices.Clone(r.Free), Usable: r.Usable.Clone(), closed: slices.Clone(r.closed)}
}

// Of returns the free amounts of a node. If a caller changes these amounts, Undo can't restore them.
func (r *Room) Of(node int32) []int64 { return r.Free[node*r.dims : (node+1)*r.dims] }

// changed notifies the watcher.
func (r *Room) changed(node int32) {
	if r.Watch != nil {
		r.Watch.RoomChanged(node)
	}
}

// block marks the node as a node that accepts no pods.
func (r *Room) block(node int32) {
	r.Usable.Remove(int(node))
	r.changed(node)
}

// unblock allows pods on the node again, if the node accepted pods in the snapshot and is not closed.
func (r *Room) unblock(node int32) {
	if r.nodes[node].Usable && !r.isClosed(node) {
		r.Usable.Add(int(node))
		r.changed(node)
	}
}

func (r *Room) isClosed(node int32) bool { return r.closed != nil && r.closed.Has(int(node)) }

// reopen undoes shut. If the node is hidden, it still accepts no pods.
func (r *Room) reopen(node int32, hidden bool) {
	r.closed.Remove(int(node))
	if !hidden {
		r.unblock(node)
	}
}

// shut closes a node that is open.
func (r *Room) shut(node int32) {
	if r.closed == nil {
		r.closed = bitset.New(len(r.nodes))
	}
	r.closed.Add(int(node))
	r.block(node)
}
