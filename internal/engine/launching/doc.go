// Package launching finds new nodes for pods that have lost their place.
//
// The question: which single new node, or which few, can hold all pending pods for less than a given price?
//
// The input is a trial with hidden nodes, the values of its pods (package valuing) and a limit. The output is new nodes in the trial, and
// their price. [Answers] remember outcomes for trials that ask the same question.
//
// The method: one node for all pods is the cheapest purchase with room. Several nodes are chosen greedily, by the value of the pods they
// hold compared with their price, or by a bounded search over such choices. Kinds of nodes for the anchor's pods are listed once for each
// stage; an upper bound on what fits, by one resource, skips kinds that can't be better.
//
// The cost: one pass over the kinds that are not skipped for each node opened; the number of tries bounds the search.
package launching

import (
	"github.com/drawknife/drawknife/internal/engine/bitset"
	"github.com/drawknife/drawknife/internal/engine/layout"
	"github.com/drawknife/drawknife/internal/engine/trial"
)

// Launching finds new nodes for pods of removed nodes, on a trial, and remembers what it has found about kinds of nodes.
type Launching struct {
	*trial.Trial
	// kinds are the nodes that LaunchSome chooses from, by stage; kindCells numbers the places where rules see them.
	kinds     map[int32][]kind
	kindCells *layout.Cells
	// kindsSuiting contains those kinds of one stage, by number, that pods at another stage may use.
	kindsSuiting map[[2]int32]bitset.Set
	kindRooms    map[string]int32 // numbers the different values of kind.alloc
	// loadsAhead and demands are scratch space of newLoading.
	loadsAhead []waitingLoad
	demands    metDemands
	// answers remembers which new nodes were found; nil for no memory.
	answers *Answers
}

// On returns a Launching for the trial.
func On(t *trial.Trial) *Launching { return &Launching{Trial: t} }

// Clone returns a Launching for a clone of the trial, with the same answers.
func (t *Launching) Clone() *Launching {
	return &Launching{Trial: t.Trial.Clone(), answers: t.answers}
}
