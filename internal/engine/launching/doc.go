// Package launching finds new nodes for pods that have lost their place.
//
// The question: which one new node, or which few, hold all pods that wait for less than so much money?
//
// Input are a trial with hidden nodes, what its pods are worth (package valuing) and a limit. Output are new nodes in the trial, and their
// price. [Answers] remember outcomes for trials that ask the same.
//
// The method: one node for all by the cheapest purchase with room; several by a greedy choice of the kind of node whose pods are worth most
// beyond its price, or by a search over such choices with a bound. Kinds that the anchor's pods may have are listed once for each
// stage; a ceiling on what fits by one resource skips kinds that can't be better.
//
// The cost: for each node opened a pass over kinds not skipped; the search is bounded by its number of tries.
package launching

import (
	"github.com/drawknife/drawknife/internal/engine/bitset"
	"github.com/drawknife/drawknife/internal/engine/layout"
	"github.com/drawknife/drawknife/internal/engine/trial"
)

// Launching finds new nodes that hold pods in place of others, on a trial, and remembers what it has found of kinds of nodes.
type Launching struct {
	*trial.Trial
	// kinds are the nodes that LaunchSome chooses from, by stage; kindCells number where rules see them.
	kinds     map[int32][]kind
	kindCells *layout.Cells
	// kindsSuiting are those of one stage, by number, that pods at another may go on.
	kindsSuiting map[[2]int32]bitset.Set
	kindRooms    map[string]int32 // numbers of kind.alloc, by content
	// loadsAhead and demands are what newLoading works with.
	loadsAhead []waitingLoad
	demands    metDemands
	// answers remember which new nodes were found; nil for none.
	answers *Answers
}

// On works on the trial.
func On(t *trial.Trial) *Launching { return &Launching{Trial: t} }

// Clone works on a clone of the trial, with the same answers.
func (t *Launching) Clone() *Launching {
	return &Launching{Trial: t.Trial.Clone(), answers: t.answers}
}
