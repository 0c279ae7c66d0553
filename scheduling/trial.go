package scheduling

import (
	"context"

	"github.com/drawknife/drawknife/internal/engine/bitset"
	"github.com/drawknife/drawknife/internal/engine/layout"
	"github.com/drawknife/drawknife/internal/engine/market"
	"github.com/drawknife/drawknife/internal/engine/nodepool"
	"github.com/drawknife/drawknife/internal/engine/offers"
	"github.com/drawknife/drawknife/internal/engine/state"
)

// Trial is a what-if on a Model: nodes can be hidden, their pods placed elsewhere, and all of it undone. It is the
// one engine of the library: Solve is a trial that places the waiting pods, disruption asks a trial what would happen
// if a node went. A new trial starts with the snapshot's nodes, nothing hidden, and the waiting pods not placed.
//
// A Trial is not safe for concurrent use; a Model may have any number of them.
type Trial struct {
	m *Model
	// state is what is where.
	s state.State
	// admission remembers how devices are allocated; nil until that is asked.
	admission *deviceAdmission
	options   PlaceOptions
	// lenient trials do without the variety that pools ask for: see placeTogether.
	lenient bool
	// newOnly keeps Place off the nodes of the snapshot and off the new ones before fresh: see PlaceNew.
	newOnly bool
	fresh   int
	// roomOnly keeps Place from relying on domains staying empty that pools can reach: see roomFirst.
	roomOnly bool
	// rooms finds nodes with room in the order given to Rank; nil without one.
	rooms *roomIndex
	// kinds are the nodes that LaunchSome chooses from, by stage; kindCells number where rules see them.
	kinds     map[int32][]kind
	kindCells *layout.Cells
	// kindsSuiting are those of one stage, by number, that pods at another may go on.
	kindsSuiting map[[2]int32]bitset.Set
	kindRooms    map[string]int32 // numbers of kind.alloc, by content
	// loadsAhead and demands are what newLoading works with.
	loadsAhead []waitingLoad
	demands    metDemands
	// types remember which would do for new nodes.
	types knownTypes
	// described remembers for Planned what nodes of the same demands could be.
	described *descriptions
	// freedClass finds the class of the snapshot's waiting pods and of those of hidden nodes, for the first freedIndexed of freed;
	// see waitingClass. soughtLast is which of freed was last found.
	freedClass   map[PodKey]int32
	freedIndexed int
	soughtLast   int
	// cells, sites and assigned are remembered while classes are placed.
	cells    *layout.Cells
	sites    map[int32][]offers.Site
	varied   map[int32][]offers.Site // sites that are too lean to fill: see findVariedSite
	assigned map[int32]map[int32][]nodepool.Assignment
	// proof is the problem behind the nodes, if one packing made them all.
	proof *proof
	// answers remember which new nodes were found; nil for none.
	answers *Answers
}

// Trial starts a what-if.
func (m *Model) Trial() *Trial {
	t := &Trial{m: m}
	t.s.Begin(state.World{
		Dims: m.c.Resources.Len(), Nodes: m.c.Nodes, Classes: m.c.Classes, Pools: m.c.Pools, Rules: m.c.Topology, Asked: m.c.AskedKeys,
		VolumesBound: m.c.VolumesBound, Pods: m.c.Pods,
	}, m.c.Free, m.c.Base)
	t.s.Watch = (*trialWatch)(t)
	t.promiseRoom()
	return t
}

// place puts pods on a host. Whoever calls it has checked that they may go there.
func (t *Trial) place(p state.Binding) {
	t.proof = nil
	t.s.Place(p)
}

// restore does again what was recorded at this point.
func (t *Trial) restore(w state.Record) {
	if len(w.Bindings) > 0 {
		t.proof = nil
	}
	t.s.Restore(w)
}

// trialWatch keeps what a trial remembers of its state up to date.
type trialWatch Trial

func (t *trialWatch) RoomChanged(node int32) {
	if t.rooms != nil {
		t.rooms.update((*Trial)(t), node)
	}
}

func (t *trialWatch) Returned(pods int) {
	for left := len(t.s.Freed) - pods; t.freedIndexed > left; t.freedIndexed-- {
		p := t.s.Freed[:t.freedIndexed][t.freedIndexed-1]
		delete(t.freedClass, PodKey{Namespace: p.Pod.Namespace, Name: p.Pod.Name})
	}
}

// PlaceOptions say how pods are placed. The zero value respects preferences and plans as many nodes as it takes. They
// hold for one call of Place; the next may have others.
type PlaceOptions struct {
	Query
	// ExistingOnly keeps Place from planning nodes: what has no room on those of the snapshot, and on those that the trial
	// has planned before, stays without a place.
	ExistingOnly bool
}

// Outcome is what Place achieved.
type Outcome struct {
	// Placed and Unplaced count the pods that were waiting.
	Placed, Unplaced int
	// NewNodes is how many nodes were planned, for NewCost USD per hour.
	NewNodes int
	NewCost  float64
}

// Place finds places for the waiting pods: first on nodes of the snapshot, then on planned ones. A cancelled context
// ends it early with ctx.Err(); what is placed until then stays, and can be rolled back.
func (t *Trial) Place(ctx context.Context, o PlaceOptions) (Outcome, error) {
	before, filled, costBefore := t.s.WaitingPods(), t.s.Filled(), t.newCost()
	if before > 0 {
		t.options = o
		t.placeAll(ctx)
	}
	out := Outcome{Unplaced: t.s.WaitingPods(), NewNodes: t.s.Filled() - filled}
	out.Placed = before - out.Unplaced
	cost := t.newCost() - costBefore
	out.NewCost = float64(cost) / market.NanoPerUSD
	return out, ctx.Err()
}
