// Package launching finds new nodes for pods that have lost their place.
//
// The question: which single new node, or which few new nodes, can hold all pending pods for less than a given price?
//
// The input is a trial with hidden nodes, the values of the trial's pods (package valuing) and a price limit. The output is new nodes in
// the trial and their price. [Answers] cache results for trials that ask the same question.
//
// The method: if one node is opened for all pods, it is the cheapest offering with enough room. Several nodes are chosen greedily, by the
// value of the pods that they hold compared with their price, or by a bounded search over such choices. The kinds of nodes for a stage are
// listed only once. A kind is skipped if it can't be better than the best kind so far. An upper bound on the value of the pods that fit,
// computed from one resource, shows this.
//
// The cost: for each new node, one pass over the kinds that are not skipped; the number of tries limits the search.
package launching

import (
	"github.com/drawknife/drawknife/internal/engine/bitset"
	"github.com/drawknife/drawknife/internal/engine/layout"
	"github.com/drawknife/drawknife/internal/engine/trial"
)

// Launching finds, in a trial, new nodes for pods of removed nodes. It caches facts about kinds of nodes.
type Launching struct {
	*trial.Trial
	// kinds are the nodes that LaunchSome chooses from, by stage. kindCells numbers the cells of these nodes.
	kinds     map[int32][]kind
	kindCells *layout.Cells
	// kindsSuiting contains, for two stages, the numbers of the kinds of the first stage that pods at the second stage may use.
	kindsSuiting map[[2]int32]bitset.Set
	kindRooms    map[string]int32 // the number of each distinct value of kind.alloc
	// loadsAhead and demands are scratch space of newLoading.
	loadsAhead []waitingLoad
	demands    metDemands
	// answers caches which new nodes were found; nil means that nothing is cached.
	answers *Answers
}

// On returns a Launching for the trial.
func On(t *trial.Trial) *Launching { return &Launching{Trial: t} }

// Clone returns a Launching for a clone of the trial. The two Launchings share their answers.
func (t *Launching) Clone() *Launching {
	return &Launching{Trial: t.Trial.Clone(), answers: t.answers}
}
